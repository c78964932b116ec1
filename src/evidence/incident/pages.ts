import type { Incident } from '../../governance/index.ts'
import { escapedMarkup } from '../../platform/index.ts'
import type { Manifest } from './manifest.ts'

/** Returns the text on how to check the package. */
export function readme(incident: number): string {
  return `Evidence package of incident ${incident} of a gatehouse gateway.

index.html      read or print this first; it needs no network
manifest.json   every file with its SHA-256, and what is missing, with the reason
incident/       the incident as it was reported and changed, each change with its proof
events/         placements with proof and photo
detections/     what cameras recorded, with proof, clip and snapshot
units/          transport units step by step, each step with its proof and photos
removed/        proofs that files were removed from the gateway before this package was made
gaps.json       when the cameras of these slots did not watch, and why
custody.json    what people did with the evidence: playbacks, exports, redactions, changes

Check one proof on any Linux with base64, sha256sum, xxd, openssl and jq:

    sh recipe.sh events/12/event-12.proof.json

Check all of them:

    find . -name '*.proof.json' -exec sh recipe.sh {} \\;

With gatehouse: gatehouse ledger verify FILE.zip

Compare the key that is printed at the end with the one that you know from elsewhere: from an earlier checkpoint, from a webhook,
or from the operator's "gatehouse ledger key". gaps.json and custody.json are lists without a separate proof; each gap names
its leaf.
`
}

/** Returns the index of a package as a page that can be read and printed without a network. */
export function indexPage(incident: Incident, manifest: Manifest): string {
  const { items, missing, files, references } = manifest
  const link = (path: string) => `<a href="${escapedMarkup(encodeURI(path))}">${escapedMarkup(path)}</a>`
  const rows = items.map(
    ({ kind, words, timestamp, proof, files: own }) =>
      `<tr><td>${escapedMarkup(kind)}</td><td>${escapedMarkup(timestamp ?? '')}</td><td>${escapedMarkup(words)}</td><td>${[
        proof,
        ...own,
      ]
        .filter((path) => path !== null)
        .map(link)
        .join('<br>')}</td></tr>`,
  )
  const absent = missing.map(
    ({ path, why, removal }) =>
      `<tr><td>${escapedMarkup(path)}</td><td>${escapedMarkup(why)}</td><td>${removal === null ? '' : link(removal)}</td></tr>`,
  )
  const named = references.filter(({ included }) => !included)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Incident ${incident.id}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%}
td,th{border:1px solid #999;padding:.3rem .5rem;text-align:left;vertical-align:top;overflow-wrap:anywhere}</style></head><body>
<h1>Incident ${incident.id}: ${escapedMarkup(incident.title ?? incident.category)}</h1>
<p>${escapedMarkup(incident.description ?? '')}</p>
<p>Severity ${escapedMarkup(incident.severity)}, category ${escapedMarkup(incident.category)}, ${escapedMarkup(incident.status)}. Reported by
${escapedMarkup(incident.reportedBy)} at ${incident.createdAt}${incident.resolvedAt === null ? '' : `, resolved at ${incident.resolvedAt}: ${escapedMarkup(incident.resolution ?? '')}`}.</p>
<p>This package was made at ${manifest.madeAt}. Its proofs lead to a log of ${manifest.checkpoint.size} leaves or fewer; the root
over them is ${escapedMarkup(manifest.checkpoint.rootHash)}. README.txt says how to check them. ${link('gaps.json')} and
${link('custody.json')} cover ${manifest.from} to ${manifest.to}.</p>
<h2>Evidence</h2>
<table><tr><th>what</th><th>time</th><th></th><th>files</th></tr>
${rows.join('\n')}</table>
<h2>Not in this package</h2>
${absent.length + named.length === 0 ? '<p>Nothing is missing.</p>' : ''}
<table>${absent.join('\n')}
${named.map(({ type, id }) => `<tr><td>${escapedMarkup(`${type} ${id ?? ''}`)}</td><td>named by the incident; has no files</td><td></td></tr>`).join('\n')}</table>
<h2>Files</h2>
<table><tr><th>file</th><th>bytes</th><th>SHA-256</th></tr>
${files.map(({ path, sizeBytes, sha256 }) => `<tr><td>${link(path)}</td><td>${sizeBytes}</td><td>${sha256}</td></tr>`).join('\n')}</table>
</body></html>
`
}
