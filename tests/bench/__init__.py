"""Measurements on real input, started by hand; tests only check that they run. Nothing here is asserted about speed."""
