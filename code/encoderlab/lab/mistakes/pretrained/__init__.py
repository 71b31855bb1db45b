"""What goes wrong in the chapters on what pretrained models need."""
