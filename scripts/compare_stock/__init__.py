"""The parts of scripts/compare-stock."""
