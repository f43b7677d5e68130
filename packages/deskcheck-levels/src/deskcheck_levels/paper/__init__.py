"""Operations on whole numbers as on squared paper: written word by word, each from a window of six words."""
