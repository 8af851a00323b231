"""Imitations of what other systems do, for tests on Linux. Each says what it imitates and what not."""
