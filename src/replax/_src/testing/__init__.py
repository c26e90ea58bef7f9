"""Running a function in several processes, for tests."""
