"""Pure: screen, confirm, floors and the statistics of the verdict."""
