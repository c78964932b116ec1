import { existsSync, readFileSync } from 'node:fs'
import { Command } from 'commander'
import { daemonServes, noteVerification, rotateThroughDaemon, verifyThroughDaemon } from '../../app/index.ts'
import { type Config, loadConfig } from '../../config/index.ts'
import { databaseFile } from '../../database/index.ts'
import { ExitError } from '../../errors/index.ts'
import {
  type Comparison,
  compareWithKept,
  type FullVerification,
  logKeysOf,
  outsidersOf,
  type Verification,
  type VerifiedLog,
  verifyInTwoThreads,
  verifyWithOutsiders,
  witnessKeyOf,
} from '../../evidence/index.ts'
import { errorMessage } from '../../platform/faults.ts'
import { print, systemClock } from '../../platform/index.ts'
import { alone, becomeOwnerOf } from '../alone.ts'
import { usualConfig, usualConfigText } from '../usual-config.ts'
import { whoRunsThis } from '../who.ts'
import { exportCommand } from './export.ts'
import { proofCommand, trustedKeys, verifyProofs } from './proof.ts'

export function ledgerCommand(): Command {
  const ledger = new Command('ledger').description('the append-only log and its proofs')
  ledger
    .command('verify')
    .argument(
      '[bundle]',
      'a proof bundle (.proof.json or .zip) or a signed statement (.note) to check instead of the ledger',
    )
    .description('recompute everything from the first leaf; names each mismatch with its place, and exits 1')
    .option('--key <vkey>', 'verifier key that you know from elsewhere; may be given more than once', collect, [])
    .option('--checkpoint <file>', 'also compare the ledger with a checkpoint that was kept elsewhere')
    .option('--config <file>', `config whose dataDir holds the ledger; ${usualConfigText}`)
    .option('--json', 'for programs')
    .action(verify)
  ledger.addCommand(exportCommand())
  ledger.addCommand(proofCommand())
  ledger
    .command('key')
    .description('print the verifier keys of the log: Ed25519, then ML-DSA-44; a witness has its witness key third')
    .option(
      '--rotate',
      'make new keys and hand the log over to them; witnesses and auditors need the new ones afterwards',
    )
    .option('--config <file>', `config whose dataDir holds the ledger; ${usualConfigText}`)
    .option('--json', 'for programs')
    .action(key)
  return ledger
}

type KeyOptions = { config?: string; json?: boolean; rotate?: boolean }

async function key(options: KeyOptions): Promise<void> {
  const { config } = loadConfig(usualConfig(options.config))
  if (options.rotate) return rotate(config, options)
  becomeOwnerOf(config.dataDir)
  const [logKey, logKeyPostQuantum] = logKeysOf(config.dataDir)
  const { enabled, name } = config.witness
  const witnessKey = enabled && name !== null ? witnessKeyOf(config.dataDir, name) : undefined
  print(
    options.json
      ? `${JSON.stringify({ logKey, logKeyPostQuantum, ...(witnessKey && { witnessKey }) })}\n`
      : [logKey, logKeyPostQuantum, ...(witnessKey ? [witnessKey] : [])].map((line) => `${line}\n`).join(''),
  )
}

/** Rotates the keys of the log, in the running daemon or, when none runs, here. */
async function rotate(config: Config, options: KeyOptions): Promise<void> {
  const by = whoRunsThis()
  if (!existsSync(databaseFile(config.dataDir))) {
    throw new ExitError(1, `there is no database at ${databaseFile(config.dataDir)}`)
  }
  const rotated = (await daemonServes(config.runtimeDir, config.dataDir))
    ? await rotateThroughDaemon(config.runtimeDir, { by })
    : await alone(config, (gateway) => gateway.rotateKeys(by), usualConfig(options.config))
  const { keys, leaf, checkpointSize } = rotated
  print(
    options.json
      ? `${JSON.stringify(rotated)}\n`
      : `the log has new keys; leaf ${leaf} names them, and the old and the new ones have signed the checkpoint over ${checkpointSize} leaves
${keys.join('\n')}
The old keys are gone. Send the new ones to everybody who has the old ones:
  witnesses refuse the log until they have them${witnessesOf(config)}
  auditors and customers can follow by themselves: each proof leads from a key that they kept to the new one
Make a backup now: older backups hold the old keys.
`,
  )
}

function witnessesOf({ evidence }: Config): string {
  const names = evidence.witnesses.map(({ name }) => name)
  return names.length > 0 ? `: ${names.join(', ')}` : ''
}

const collect = (one: string, others: readonly string[]) => [...others, one]

type VerifyOptions = { config?: string; json?: boolean; key: readonly string[]; checkpoint?: string }

async function verify(bundle: string | undefined, options: VerifyOptions): Promise<void> {
  if (bundle !== undefined) return verifyProofs(bundle, options)
  const { config } = loadConfig(usualConfig(options.config))
  const checkpoint = options.checkpoint === undefined ? undefined : checkpointIn(options.checkpoint)
  becomeOwnerOf(config.dataDir)
  const result = await recompute(config)
  const kept = checkpoint && (await compare(config.dataDir, checkpoint, options.key))
  const verdict = kept ? { ...result, ok: result.ok && kept.holds, checkpoint: kept } : result
  print(options.json ? `${JSON.stringify(verdict)}\n` : `${forPeople(result)}${kept ? `${kept.words}\n` : ''}`)
  if (!verdict.ok) throw new ExitError(1, '')
}

/** Has the running daemon recompute its ledger, or reads the file when none runs. */
async function recompute({ runtimeDir, dataDir, evidence }: Config): Promise<FullVerification> {
  const progress = progressOn(process.stderr)
  try {
    if (await daemonServes(runtimeDir, dataDir)) return await verifyThroughDaemon(runtimeDir, progress?.at)
    const options = progress && { onProgress: progress.at }
    const verification = await verifyInTwoThreads(dataDir, (part) =>
      verifyWithOutsiders(dataDir, outsidersOf(evidence), { ...options, part }),
    )
    noteVerification(dataDir, verification, systemClock.now())
    return verification
  } finally {
    progress?.end()
  }
}

/** Shows percent on a terminal, in one line that is cleared at the end; undefined where no one looks. */
export function progressOn(
  out: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>,
): { at: (share: number) => void; end: () => void } | undefined {
  if (!out.isTTY) return undefined
  let isEnded = false
  return {
    at: (share) => {
      if (!isEnded) out.write(`\rverifying: ${Math.floor(share * 100)} %`)
    },
    end: () => {
      isEnded = true
      out.write('\r\u001b[K')
    },
  }
}

type KeptCheckpoint = { readonly file: string; readonly text: string }

function checkpointIn(file: string): KeptCheckpoint {
  try {
    return { file, text: readFileSync(file, 'utf8') }
  } catch (error) {
    throw unreadable(file, error)
  }
}

/** Compares the ledger with a checkpoint that was kept in a file, by the keys given or, without one, those of this box. */
async function compare(dataDir: string, { file, text }: KeptCheckpoint, vkeys: readonly string[]): Promise<Comparison> {
  const keys = vkeys.length > 0 ? trustedKeys(vkeys) : undefined
  try {
    return await compareWithKept(dataDir, text, keys)
  } catch (error) {
    if (error instanceof ExitError) throw error
    throw unreadable(file, error)
  }
}

const unreadable = (file: string, error: unknown) => new ExitError(1, `${file} cannot be read: ${errorMessage(error)}`)

function forPeople(result: FullVerification): string {
  const head = `log ${result.logId} of site ${result.siteId}: ${result.size} leaves, ${result.events} events, ${result.detections} detections, ${result.cameraGaps} gaps of cameras, ${result.unitSteps} steps of transport units, ${result.incidentChanges} changes of incidents, ${result.reports} reports, ${result.openings} openings, ${result.media} files
root ${result.root}
${heads(result)}
${others(result)}${trail(result)}
${result.logs.slice(0, -1).map(before).join('')}`
  if (result.ok) return `${head}everything matches\n`
  const lines = result.mismatches.map(({ where, what }) => `  ${where}: ${what}\n`)
  return `${head}DOES NOT MATCH:\n${lines.join('')}${result.truncated ? '  … and more\n' : ''}`
}

/** Says whether signatures could be verified. */
function heads({ signedHeads: { count, areKeysHere } }: Verification): string {
  return areKeysHere
    ? `${count} checkpoints, verified with the keys of this box`
    : 'checkpoints: the keys of the box are not here, so their signatures were not verified'
}

/** Returns the countersignatures, and the signers without a known key; empty when there are none. */
function others({ countersigned: { cosignatures, timestamps, unverified } }: FullVerification): string {
  if (cosignatures + timestamps === 0) return ''
  const unknown = unverified.map(({ by, count }) => `${count} by ${by}`).join(', ')
  const rest = unknown === '' ? '' : `; not verified, because the config does not name the signer: ${unknown}`
  return `${cosignatures} cosignatures of witnesses and ${timestamps} time stamps${rest}\n`
}

/** Says how far digests cover the audit trail. */
function trail({ auditTrail: { entries, coveredTo } }: Verification): string {
  const rest = entries - coveredTo
  const covered = `audit trail: ${entries} entries, the log covers it up to entry ${coveredTo}`
  return rest > 0 ? `${covered}; the other ${rest} are compared with the hashes beside them` : covered
}

/** Formats a log that the growing log continues. */
function before({ logId, size, root }: VerifiedLog): string {
  return `before it log ${logId}: ${size} leaves, root ${root}\n`
}
