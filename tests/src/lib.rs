//! Journeys through the whole system, in a real browser and under faults.
