//! The truth at the destination: when a request reaches it, what it carries out, what it says when it is
//! asked, and what the properties say of a request that leaves. The protocol sees none of it.

use ackbox_domain::settlement::Word as Said;

use crate::bounds::Bounds;
use crate::clock::Steps;
use crate::state::{Broken, Permission, State, Truth};

impl Truth {
    /// Judges a request that leaves now, in true time, by plain sums of its own. Its claim was taken at
    /// `claimed_at`, in true time.
    pub(crate) fn leaves(&mut self, claimed_at: Steps, bounds: &Bounds) {
        let ends = i32::from(bounds.timeout);
        let lease_ends = i32::from(claimed_at) + i32::from(bounds.lease);
        self.broken.add(Broken::PAST_LEASE, ends > lease_ends);
        if self.permission != Permission::None {
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

    /// The destination carries out a request now, or answers from memory.
    pub(crate) fn executes(&mut self, bounds: &Bounds) {
        if self.effects > 0 {
            // The worst that a destination may do that keeps its word: it counts its window from the
            // earliest moment at which the key can have reached it.
            let age = self.first_arrival.map_or(0, |at| -i32::from(at));
            if bounds.keeps_keys() && age < i32::from(bounds.window) {
                return;
            }
            let is_once = bounds.keeps_keys() || bounds.is_asked();
            let permitted = self.permission != Permission::None;
            self.broken.add(Broken::TWICE, is_once && !permitted);
        }
        self.effects = (self.effects + 1).min(2);
    }

    /// What the destination may say now: the truth, or that it cannot tell.
    pub(crate) const fn answers(&self) -> [Said; 2] {
        match self.effects {
            0 => [Said::NotApplied, Said::StillUnknown],
            _ => [Said::Applied, Said::StillUnknown],
        }
    }
}

impl State {
    /// A request that left at `left` turns out to have had another outcome than `busy`: a word that
    /// permitted it is used up, and one that is on its way speaks of what was before.
    pub(crate) fn arrives(&mut self, left: Steps) {
        let truth = &mut self.truth;
        truth.first_arrival = truth.first_arrival.or(Some(left));
        truth.permission = Permission::None;
        for answer in self.reconcilers.iter_mut().flatten() {
            answer.is_fresh = false;
        }
        for unwritten in self.operators.iter_mut().flatten() {
            unwritten.is_fresh = false;
        }
    }
}
