//! One proxy's life, and how it is taken.

use std::time::Duration;

use super::kill_plan::Blow;
use super::proxy_process::Victim;
use super::shard::Lane;
use crate::wait::pause;

/// How long an undisturbed proxy lives, at most.
const LIFE: Duration = Duration::from_millis(350);
/// Longer than a start takes on an idle machine.
const START: Duration = Duration::from_millis(120);
/// About as long as an orderly end takes.
const END: Duration = Duration::from_millis(40);
const FROZEN: Duration = Duration::from_millis(1500);
const CUT_OFF: Duration = Duration::from_millis(400);
/// From the first byte of a database to the last table.
const MIGRATION: Duration = Duration::from_millis(30);

impl Lane {
    /// Starts the proxy and deals it a blow that ends it. Answers whether it was killed.
    pub(super) async fn strikes(&mut self) -> bool {
        let blow = Blow::choose(&mut self.dice);
        let mut victim = self.post.starts();
        if !matches!(blow, Blow::AtStart) {
            self.post.is_up(&mut victim, &self.http).await;
        }
        let what = self.deals(blow, &victim).await;
        if let Some(status) = victim.ended() {
            let in_order = matches!(blow, Blow::WhileEnding) && status.success();
            let words = self.post.last_words();
            assert!(in_order, "the proxy ended by itself ({status}):\n{words}");
            self.tally.count("ended in order before the kill came");
            return false;
        }
        victim.kill();
        self.tally.count(what);
        true
    }

    /// All that happens before the kill; how the tally calls it.
    async fn deals(&mut self, blow: Blow, victim: &Victim) -> &'static str {
        match blow {
            Blow::AtStart => {
                self.lets_pass(START).await;
                "kills during start"
            }
            Blow::AtAnyTime => {
                self.lets_pass(LIFE).await;
                "kills at any time"
            }
            Blow::Aimed(aim) => {
                let moments = self.moments.subscribe();
                let came = aim.comes(moments, &mut self.dice).await;
                if came { aim.name } else { "kills at any time" }
            }
            Blow::WhileEnding => {
                self.lets_pass(LIFE).await;
                victim.signal("TERM");
                self.lets_pass(END).await;
                "kills while it was ending"
            }
            Blow::Frozen => {
                self.lets_pass(LIFE).await;
                victim.signal("STOP");
                self.lets_pass(FROZEN).await;
                victim.signal("CONT");
                self.lets_pass(LIFE).await;
                "kills after it was frozen"
            }
            Blow::CutOff => {
                self.service_tap.cut(true);
                self.lets_pass(CUT_OFF).await;
                self.service_tap.cut(false);
                self.lets_pass(LIFE).await;
                "kills after it was cut off from the service"
            }
        }
    }

    async fn lets_pass(&mut self, longest: Duration) {
        pause(self.dice.up_to(longest)).await;
    }

    /// Kills a proxy while it makes its very first database, and sees that the next one copes with what is there.
    /// Nobody else knows its address. Answers whether it was killed.
    pub(super) async fn strikes_a_first_start(&mut self) -> bool {
        self.first_post.forgets_its_database();
        let mut victim = self.first_post.starts();
        self.first_post.makes_its_database().await;
        self.lets_pass(MIGRATION).await;
        let was_killed = victim.kill();
        self.tally.count("kills while the database was made");
        let mut victim = self.first_post.starts();
        self.first_post.is_up(&mut victim, &self.http).await;
        let code = victim.ends_in_order().await;
        assert_eq!(code, Some(0), "{}", self.first_post.last_words());
        was_killed
    }
}
