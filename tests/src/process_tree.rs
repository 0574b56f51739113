//! A process and its descendants.

use std::fs;
use std::process::{Command, Stdio};

/// A process and its descendants as they were at one moment, such as a driver, its browser, and the browser's own processes.
///
/// Only some of them end when the first does. Each is known by its number together with the moment of its start, so that none is
/// mistaken for another one of the same number.
#[derive(Clone, Debug)]
pub(crate) struct ProcessTree(Vec<ProcessInfo>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct ProcessInfo {
    id: u32,
    parent: u32,
    /// In clock ticks since the machine's start.
    started: String,
}

impl ProcessTree {
    /// Returns this process and its descendants, parents first.
    pub(crate) fn of(root: u32) -> Self {
        let all = all_processes();
        let mut process_tree: Vec<ProcessInfo> = Vec::new();
        process_tree.extend(all.iter().find(|member| member.id == root).cloned());
        let mut next = 0;
        while let Some(parent) = process_tree.get(next).map(|member| member.id) {
            let born =
                |member: &&ProcessInfo| member.parent == parent && !process_tree.contains(member);
            let children: Vec<_> = all.iter().filter(born).cloned().collect();
            process_tree.extend(children);
            next += 1;
        }
        Self(process_tree)
    }

    pub(crate) fn with(mut self, other: Option<Self>) -> Self {
        self.0.extend(other.into_iter().flat_map(|other| other.0));
        self
    }

    pub(crate) fn end(&self) {
        let left: Vec<_> = self.running().iter().map(ToString::to_string).collect();
        if !left.is_empty() {
            let mut kill = Command::new("kill");
            kill.arg("-KILL").args(left).stderr(Stdio::null());
            let _ = kill.status();
        }
    }

    /// Returns the ids of those that still run.
    pub(crate) fn running(&self) -> Vec<u32> {
        let there = |member: &&ProcessInfo| {
            let found = read(member.id);
            found.is_some_and(|found| found.started == member.started)
        };
        self.0
            .iter()
            .filter(there)
            .map(|member| member.id)
            .collect()
    }
}

fn all_processes() -> Vec<ProcessInfo> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let ids = processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(read).collect()
}

/// `None` when there is none, or nothing but its number is left of it.
///
/// Source: proc(5), `/proc/pid/stat`: state, parent and start are its third, fourth and 22nd fields; the second, in
/// parentheses, may hold anything.
fn read(id: u32) -> Option<ProcessInfo> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, after_name) = text.rsplit_once(") ")?;
    let mut fields = after_name.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.to_owned();
    (!matches!(state, "Z" | "X")).then_some(ProcessInfo {
        id,
        parent,
        started,
    })
}
