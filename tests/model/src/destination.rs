//! The truth at the destination: when a request reaches it, what it carries out, and what the
//! properties say of a request that leaves. The protocol sees none of it.

use crate::bounds::Bounds;
use crate::clock::Steps;
use crate::state::{Broken, Truth};

/// A request that leaves, with what allows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    /// When its claim was taken, in true time.
    pub claimed_at: Steps,
    /// Whether an operator permitted it whatever came before.
    pub permitted: bool,
}

impl Truth {
    /// Judges a request that leaves now, in true time, by plain sums of its own.
    pub(crate) fn leaves(&mut self, leaving: Leaving, bounds: &Bounds) {
        let ends = i32::from(bounds.timeout);
        let lease_ends = i32::from(leaving.claimed_at) + i32::from(bounds.lease);
        self.broken.add(Broken::PAST_LEASE, ends > lease_ends);
        if leaving.permitted {
            return;
        }
        if let Some(first) = self.first_arrival {
            let keeps_keys = bounds.keeps_keys();
            self.broken.add(Broken::REPEATED, !keeps_keys);
            let window_ends = i32::from(first) + i32::from(bounds.window);
            let outside = keeps_keys && ends >= window_ends;
            self.broken.add(Broken::PAST_WINDOW, outside);
        }
    }

    /// A request that left at `left` turns out to have had another outcome than `busy`.
    pub(crate) fn arrives(&mut self, left: Steps) {
        self.first_arrival = self.first_arrival.or(Some(left));
    }

    /// The destination carries out a request now, or answers from memory.
    pub(crate) fn executes(&mut self, permitted: bool, bounds: &Bounds) {
        if bounds.keeps_keys() && self.effects > 0 {
            // The worst that a destination may do that keeps its word: it counts its window from the
            // earliest moment at which the key can have reached it.
            let age = self.first_arrival.map_or(0, |at| -i32::from(at));
            if age < i32::from(bounds.window) {
                return;
            }
            self.broken.add(Broken::TWICE, !permitted);
        }
        self.effects = (self.effects + 1).min(2);
    }
}
