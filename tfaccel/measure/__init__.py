"""What a run took: the clock, memory, the profile, and the `Measurement` of them all."""
