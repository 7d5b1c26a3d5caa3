//! Command that lists newer versions of installed servers.

use ::installer::VersionReport as Report;

use super::Api;
use super::installs::{registry_cache_policy, registry_status_view, require_installer};
use crate::ApiError;
use crate::data::*;

pub(super) async fn newer_version_reports(api: &Api, r: &ListNewerVersions) -> Result<VersionReports, ApiError> {
    let reports = require_installer(api)?.version_reports(&api.host, registry_cache_policy(r.refresh)).await?;
    Ok(VersionReports { servers: reports.into_iter().map(version_report_view).collect() })
}

fn version_report_view(report: Report) -> VersionReport {
    let newer = report.newer.map(|newer| NewerVersion { version: newer.version, published_at: newer.published_at });
    VersionReport {
        server: report.server,
        registry_name: report.name,
        version: report.version,
        status: registry_status_view(report.status),
        status_message: report.status_message,
        newer,
        problem: report.problem,
    }
}
