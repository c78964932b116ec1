import { X509Certificate } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Config, loadConfig } from '../config/index.ts'
import { databaseFile, executor, openReader, openWriter } from '../database/index.ts'
import { ExitError } from '../errors/index.ts'
import { initTls, servedAuthority, takeTls } from '../http/index.ts'
import { beginLogOf, knownLogs } from '../log/index.ts'
import {
  asDaemonUser,
  type Clock,
  makeGroupFolder,
  readFileIfThere,
  systemRandom,
  uuidv7Maker,
  writeFileDurably,
  writeForGroup,
} from '../platform/index.ts'
import { namesOf } from './names.ts'
import { type SetupPlan, secretFileOf } from './plan.ts'
import { applyPatch } from './settings-file.ts'

/** JSON of `gatehouse setup --json`, and the changes that it made. */
export type SetupResult = {
  readonly url: string
  readonly admin: string
  /** Where the secret of the admin is; null: this setup did not make it. */
  readonly secretFile: string | null
  /** SHA-256 of the authority of this box; null: there is none. */
  readonly caFingerprint: string | null
  readonly configFile: string
}

const certificateDays = 825
const soonMs = 30 * 86_400_000

/** Writes secrets, certificates and config of a plan. Throws ExitError; a config that would have problems is taken back. */
export async function carryOut(
  plan: SetupPlan,
  { configFile, clock, isServed }: { readonly configFile: string; readonly clock: Clock; readonly isServed: boolean },
): Promise<SetupResult & { readonly config: Config; readonly changed: string | undefined }> {
  const before = existsSync(configFile) ? loadConfig(configFile).config : undefined
  if (before && before.site.id !== plan.siteId) {
    asDaemonUser(before.dataDir, () => demandEmptyLedger(before.dataDir, plan.siteId, isServed))
  }
  const folder = dirname(configFile)
  makeGroupFolder(folder)
  if (plan.secrets.length > 0) makeGroupFolder(join(folder, 'secrets'))
  for (const { path, secret, forGateway } of plan.secrets) {
    if (forGateway) writeForGroup(path, `${secret}\n`)
    else writeFileDurably(path, `${secret}\n`, 0o600)
  }
  await makeCertificates(plan, folder, clock.now())
  const changed = applyPatch(configFile, plan.patch)
  const { config } = loadConfig(configFile)
  const secretFile = secretFileOf(configFile, plan.admin)
  return {
    url: plan.url,
    admin: plan.admin,
    secretFile: existsSync(secretFile) ? secretFile : null,
    caFingerprint: servedAuthority(config.listen)?.fingerprint ?? null,
    configFile: changed ?? configFile,
    config,
    changed,
  }
}

async function makeCertificates({ tls, url, patch }: SetupPlan, folder: string, nowMs: number): Promise<void> {
  if (tls.mode === 'none' || tls.mode === 'as it is') return
  const dir = join(folder, 'tls')
  if (tls.mode === 'files') {
    takeTls({ dir, certFile: tls.certFile, keyFile: tls.keyFile, nowMs })
    return
  }
  const listen = (patch['listen'] ?? []) as Config['listen']
  const names = namesOf({ site: { url } as Config['site'], listen }, [])
  if (isGoodFor(new URL(url).hostname, dir, nowMs)) return
  await initTls({ dir, names, days: certificateDays, nowMs, force: false })
}

/** Returns whether the authority of this box has already made a valid certificate for this name. */
function isGoodFor(host: string, dir: string, nowMs: number): boolean {
  const [cert, ca] = ['cert.pem', 'ca.pem'].map((name) => readFileIfThere(join(dir, name)))
  if (!cert || !ca) return false
  const leaf = new X509Certificate(cert)
  const covers = leaf.checkHost(host) ?? leaf.checkIP(host)
  return covers !== undefined && leaf.checkIssued(new X509Certificate(ca)) && Date.parse(leaf.validTo) - nowMs > soonMs
}

/** Throws ExitError when the ledger of a folder belongs to another site for good, or a daemon works on it. */
function demandEmptyLedger(dataDir: string, siteId: string, isServed: boolean): void {
  if (!existsSync(databaseFile(dataDir))) return
  const reader = openReader(databaseFile(dataDir))
  try {
    const logs = knownLogs(executor(reader))
    const used = logs.find(({ size, siteId: of }) => size > 0 && of !== siteId)
    if (used) {
      throw new ExitError(
        1,
        `the ledger belongs to site ${used.siteId}, and its log has ${used.size} leaves: site.id is chosen once`,
      )
    }
    if (logs.length > 0 && isServed) {
      throw new ExitError(1, 'stop the gateway before site.id is changed: systemctl stop gatehouse')
    }
  } finally {
    reader.close()
  }
}

/** Makes the log of a ledger without events one of this site. Does nothing where there is no ledger, or it is so already. */
export function settleSite({ dataDir, site }: Config, clock: Clock): void {
  if (!existsSync(databaseFile(dataDir))) return
  const { db, close } = openWriter({ dataDir, nowMs: clock.now() })
  try {
    const makeId = uuidv7Maker(clock, systemRandom)
    db.transaction(() => beginLogOf(executor(db), site.id, makeId, clock.now())).immediate()
  } finally {
    close()
  }
}
