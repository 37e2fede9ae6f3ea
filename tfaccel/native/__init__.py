"""Operations in C++ for TensorFlow's CPU device, one small file each, compiled on first use."""
