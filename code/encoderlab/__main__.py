"""Let ``python -m encoderlab`` do what the command ``encoderlab`` does."""

from encoderlab.lab.cli import main

if __name__ == "__main__":
    main()
