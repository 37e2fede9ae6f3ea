"""Other code for the layers of a built model, in place, for the length of a training."""
