"""What follows from the project's public address, ``repository.url`` in _config.yml."""

import re


def turn_on_buttons(app, config):
    """Turn on the buttons that need the address, where it is set."""
    options = config.html_theme_options
    url = options.get("repository_url")
    if not url:
        return
    options.update(
        use_repository_button=True,
        use_edit_page_button=True,
        use_issues_button=True,
        launch_buttons={
            "notebook_interface": "jupyterlab",
            "binderhub_url": "https://mybinder.org",
            "colab_url": "https://colab.research.google.com",
        },
    )
    config.html_baseurl = config.html_baseurl or pages_address(url)


def pages_address(url):
    """Return where GitHub or GitLab publish a repository's pages; else nothing."""
    match = re.fullmatch(r"https://(github|gitlab)\.com/([^/]+)/([^/]+?)/?", url)
    return f"https://{match[2]}.{match[1]}.io/{match[3]}/" if match else ""


def tell_templates(app, pagename, templatename, context, doctree):
    context["pages_address"] = app.config.html_baseurl


def setup(app):
    app.connect("html-page-context", tell_templates)
    app.connect("config-inited", turn_on_buttons)
