//! Journeys through the whole system.
