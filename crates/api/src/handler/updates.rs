//! Newer versions of installed servers for the page.

use ::installer::{NewerVersion as Newer, VersionReport};
use ::installs::{Argument, Template};
use registry::{Change, PlanDiff};

use super::Api;
use super::installs::{freshness, installer, parts, status};
use crate::ApiError;
use crate::data::*;

pub(super) async fn updates(api: &Api, r: &InstalledVersions) -> Result<InstallUpdates, ApiError> {
    let reports = installer(api)?.version_reports(&api.host, freshness(r.refresh)).await?;
    Ok(InstallUpdates { servers: reports.into_iter().map(update).collect() })
}

fn update(report: VersionReport) -> InstallUpdate {
    InstallUpdate {
        server: report.server,
        registry_name: report.name,
        version: report.version,
        status: status(report.status),
        status_message: report.status_message,
        newer: report.newer.map(newer),
        problem: report.problem,
    }
}

fn newer(newer: Newer) -> NewerVersion {
    let (changes, input_changes, changes_problem) = match newer.diff {
        Ok(diff) => (changes(&diff), input_changes(diff), None),
        Err(problem) => (Vec::new(), Vec::new(), Some(problem.to_string())),
    };
    NewerVersion { version: newer.version, published_at: newer.published_at, changes, input_changes, changes_problem }
}

fn changes(diff: &PlanDiff) -> Vec<PlanChange> {
    let text = |text: &str| vec![vec![PlannedPart::Text(text.to_owned())]];
    let words = |args: &Vec<Argument>| args.iter().flat_map(|arg| &arg.words).map(parts).collect();
    let one = |template: &Template| vec![parts(template)];
    let mut changes = Vec::new();
    changes.extend(diff.command.as_ref().map(|change| changed(PlanPart::Command, None, change, |name| text(name))));
    changes.extend(diff.args.as_ref().map(|change| changed(PlanPart::Args, None, change, words)));
    changes.extend(diff.env.iter().map(|(name, change)| changed(PlanPart::Env, Some(name), change, one)));
    changes.extend(diff.url.as_ref().map(|change| changed(PlanPart::Url, None, change, one)));
    changes
        .extend(diff.kind.as_ref().map(|change| changed(PlanPart::Transport, None, change, |kind| text(kind.name()))));
    changes.extend(diff.headers.iter().map(|(name, change)| changed(PlanPart::Header, Some(name), change, one)));
    changes
}

fn changed<T>(
    what: PlanPart,
    name: Option<&String>,
    change: &Change<T>,
    shown: impl Fn(&T) -> Vec<Vec<PlannedPart>>,
) -> PlanChange {
    let [before, after] = [&change.before, &change.after].map(|side| side.as_ref().map(&shown));
    PlanChange { what, name: name.cloned(), before, after }
}

fn input_changes(diff: PlanDiff) -> Vec<InputChange> {
    let change = |(key, Change { before, after })| InputChange { key, before, after };
    diff.inputs.into_iter().map(change).collect()
}
