"""What each exercise is asked, in files that mirror the package."""
