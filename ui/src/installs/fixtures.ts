// Fixtures for installs: a server of a registry, and a bundle.
import type {
  InstallChoice,
  InstallOffer,
  InstallPlan,
  InstallPreview,
  PlanInput,
  RegistryAnswer,
  RegistryListing,
  RegistryServer,
} from "$lib/api/generated";

export const SERVER_NAME = "io.github.alice/notes";

export function sampleAnswer(changes: Partial<RegistryAnswer> = {}): RegistryAnswer {
  const registry = "https://registry.modelcontextprotocol.io";
  return { registry, fetchedAt: Date.now(), fromCache: false, offlineReason: null, ...changes };
}

export function sampleListing(changes: Partial<RegistryListing> = {}): RegistryListing {
  return {
    ...{ name: SERVER_NAME, title: "Notes", description: "Keeps notes", version: "1.2.0" },
    ...{ status: "active", statusMessage: null },
    publisher: { kind: "github_account", name: "alice", checked: true },
    ...{ publishedAt: Date.now() - 86_400_000, isLatest: true, websiteUrl: null },
    repositoryUrl: "https://github.com/alice/notes",
    ...changes,
  };
}

export const INSTALL_CHOICES: InstallChoice[] = [
  {
    ...{ target: { kind: "package", number: 1 }, kind: "npm", identifier: "@alice/notes" },
    ...{ version: "1.2.0", problem: null, download: null },
  },
  {
    ...{ target: { kind: "package", number: 2 }, kind: "mcpb", version: null, problem: null },
    identifier: "https://example.com/notes.mcpb",
    download: { url: "https://example.com/notes.mcpb", sha256: "ab".repeat(32) },
  },
  {
    ...{ target: { kind: "remote", number: 1 }, kind: "streamable-http" },
    ...{ identifier: "https://notes.example/mcp", version: null, problem: null, download: null },
  },
];

export function sampleServer(changes: Partial<RegistryServer> = {}): RegistryServer {
  const { version, publishedAt } = sampleListing();
  return {
    ...{ listing: sampleListing(), choices: INSTALL_CHOICES, versionsProblem: null },
    answer: sampleAnswer(),
    versions: [
      { version, status: "active", statusMessage: null, publishedAt },
      { version: "1.1.0", status: "deprecated", statusMessage: "use 1.2", publishedAt: 1 },
    ],
    ...changes,
  };
}

export function sampleInput(key: string, changes: Partial<PlanInput> = {}): PlanInput {
  return {
    ...{ key, label: key, description: null, kind: "text", required: false, secret: false },
    ...{ multiple: false, default: [], choices: [], placeholder: null, min: null, max: null },
    ...changes,
  };
}

export function samplePlan(changes: Partial<InstallPlan> = {}): InstallPlan {
  return {
    name: "notes",
    target: {
      ...{ type: "stdio", command: "npx" },
      args: [
        [{ text: "-y" }],
        [{ text: "@alice/notes@1.2.0" }],
        [{ text: "--dir=" }, { input: "dir" }],
      ],
      env: { NOTES_KEY: [{ input: "NOTES_KEY" }] },
    },
    inputs: [
      sampleInput("NOTES_KEY", { required: true, secret: true, description: "The key" }),
      sampleInput("dir", { kind: "folder", label: "Folder", required: true }),
    ],
    ...{ exposedSecrets: [], notes: [{ is: "no_version", program: "npx" }] },
    containment: { is: "possible" },
    sandbox: { folders: [], network: { preset: "named_hosts", hosts: ["registry.npmjs.org"] } },
    ...changes,
  };
}

export function sampleOffer(changes: Partial<InstallOffer> = {}): InstallOffer {
  return {
    source: {
      ...{ from: "registry", name: SERVER_NAME, version: "1.2.0" },
      target: { kind: "package", number: 1 },
    },
    origin: { from: "registry", listing: sampleListing(), answer: sampleAnswer(), bundle: null },
    ...{ choices: INSTALL_CHOICES, plan: samplePlan(), problem: null },
    ...changes,
  };
}

export const SHA256 = "5e".repeat(32);

/** Creates an install offer for a bundle file. */
export function bundleOffer(): InstallOffer {
  return sampleOffer({
    source: { from: "bundle", path: "/home/ann/notes.mcpb", sha256: SHA256 },
    origin: {
      ...{ from: "bundle", file: "notes.mcpb", sha256: SHA256, bytes: 793_000, name: "notes" },
      ...{ title: null, version: "1.0.0", description: "Keeps notes", author: "Alice" },
      ...{ signature: { state: "absent" }, folder: "/data/bundles/notes-0123", files: 5 },
      ...{ unpackedBytes: 2_000_000, warnings: [] },
    },
    choices: [],
  });
}

/** Creates the preview of a setup without missing values. */
export function samplePreview(hash = "h1"): InstallPreview {
  return {
    ...{ inputProblems: {}, problem: null, hash, before: null },
    server: {
      ...{ type: "stdio", command: "npx", foundAt: "/usr/bin/npx" },
      args: ["-y", "@alice/notes@1.2.0", "--dir=/home/ann/notes"],
      env: { NOTES_KEY: ["secret"] },
      sandbox: { folders: [], network: { preset: "files_only" } },
    },
  };
}
