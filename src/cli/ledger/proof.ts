import { webcrypto } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { Command } from 'commander'
import { daemonServes, type ProofCommand, proveThroughDaemon } from '../../app/index.ts'
import { type Config, loadConfig } from '../../config/index.ts'
import { EXIT_USAGE, ExitError } from '../../errors/index.ts'
import {
  type NoteKey,
  type Proof,
  packProof,
  readProofs,
  readStatement,
  readVkey,
  verifyStatement,
} from '../../evidence/index.ts'
import { print, printError } from '../../platform/index.ts'
import { type BundleVerdict, checkBundle, type MediaItem } from '../../proof/index.ts'
import { alone } from '../alone.ts'
import { usualConfig, usualConfigText } from '../usual-config.ts'

export function proofCommand(): Command {
  return new Command('proof')
    .argument('[id]', 'id of the event')
    .description('write the proof of an event or a detection: one file that anybody can check without this gateway')
    .option('--detection <id>', 'id of a detection, instead of an event')
    .option('--media', 'a zip with its photo, clip and snapshot, and the recipe that checks it; needs --out')
    .option('--out <file>', 'where to write it; default: standard output')
    .option('--config <file>', `config whose dataDir holds the ledger; ${usualConfigText}`)
    .action(prove)
}

type ProofOptions = { detection?: string; media?: boolean; out?: string; config?: string }

async function prove(id: string | undefined, options: ProofOptions): Promise<void> {
  const wanted = wantedRow(id, options.detection)
  if (options.media && options.out === undefined)
    throw new ExitError(EXIT_USAGE, '--media writes a zip: say where with --out')
  const { config } = loadConfig(usualConfig(options.config))
  const proof = await proofOf(config, wanted)
  const name = `${wanted.kind}-${wanted.id}`
  if (options.out === undefined) print(`${JSON.stringify(proof.bundle, undefined, 2)}\n`)
  else if (options.media) await pipeline(packProof(proof, name), createWriteStream(options.out, { mode: 0o600 }))
  else await writeFile(options.out, `${JSON.stringify(proof.bundle, undefined, 2)}\n`, { mode: 0o600 })
  const gone = proof.files.filter(({ path }) => path === null).map((file) => file.name)
  if (options.media && gone.length > 0) printError(`missing on this box: ${gone.join(', ')}\n`)
}

function wantedRow(event: string | undefined, detection: string | undefined): ProofCommand {
  const text = detection ?? event
  if ((event === undefined) === (detection === undefined)) {
    throw new ExitError(EXIT_USAGE, 'name one row: gatehouse ledger proof ID, or gatehouse ledger proof --detection ID')
  }
  if (text === undefined || !/^[1-9]\d{0,14}$/.test(text)) throw new ExitError(EXIT_USAGE, `${text} is not an id`)
  return { kind: detection === undefined ? 'event' : 'detection', id: Number(text) }
}

async function proofOf(config: Config, wanted: ProofCommand): Promise<Proof> {
  if (await daemonServes(config.runtimeDir, config.dataDir)) return proveThroughDaemon(config.runtimeDir, wanted)
  return alone(config, (gateway) => gateway.proofs.of(wanted.kind, wanted.id, undefined))
}

/** Reads the keys of `--key`. Throws ExitError for one that is not a verifier key. */
export function trustedKeys(vkeys: readonly string[]): NoteKey[] {
  return vkeys.map((vkey) => {
    const key = readVkey(vkey)
    if (!key) throw new ExitError(EXIT_USAGE, `"${vkey}" is not a verifier key (NAME+ID+KEY)`)
    return key
  })
}

/** Checks each proof bundle of a file, or a signed statement, and prints the verdicts. Throws ExitError when one fails. */
export async function verifyProofs(file: string, options: { key: readonly string[]; json?: boolean }): Promise<void> {
  const keys = trustedKeys(options.key)
  const statement = readStatement(file)
  if (statement !== undefined) {
    const verdict = await verifyStatement(statement, keys)
    print(options.json ? `${JSON.stringify(verdict)}\n` : verdict.words.map((line) => `${line}\n`).join(''))
    if (!verdict.ok) throw new ExitError(1, '')
    return
  }
  const proofs = await readProofs(file)
  const verdicts: (BundleVerdict & { readonly name: string })[] = []
  for (const { name, text, file: beside } of proofs) {
    const trust = { keys: options.key, file: (item: MediaItem) => beside(item.name) }
    verdicts.push({ name, ...(await checkBundle(webcrypto.subtle, text, trust)) })
  }
  print(
    options.json
      ? `${JSON.stringify(verdicts.length === 1 ? verdicts[0] : verdicts)}\n`
      : verdicts.map((verdict) => `${verdicts.length > 1 ? `${verdict.name}\n` : ''}${forPeople(verdict)}`).join('\n'),
  )
  if (!verdicts.every(({ ok }) => ok)) throw new ExitError(1, '')
}

function forPeople({ findings, keyIsFromBundle, vkey, ok }: BundleVerdict): string {
  const lines = findings.map(({ step, state, words }) => {
    const said = state === 'fails' ? `fails because ${words}` : words === '' ? state : `${state}: ${words}`
    return `${step.padEnd(13)} ${said}\n`
  })
  const whose =
    keyIsFromBundle && ok ? `signed by the key inside this file; compare it with the one you know: ${vkey}\n` : ''
  return lines.join('') + whose
}
