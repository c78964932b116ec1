import { networkInterfaces } from 'node:os'
import { createInterface } from 'node:readline'
import { Command } from 'commander'
import { Document, isMap, isSeq } from 'yaml'
import {
  askCameraClock,
  askDevices,
  type OnvifNeeds,
  type ProbeQuestion,
  type ProbeReply,
  probeHere,
  searchDevices,
  streamProbe,
} from '../../app/index.ts'
import { loadConfig, readSecretFile, SecretFileError } from '../../config/index.ts'
import { EXIT_USAGE, ExitError } from '../../errors/index.ts'
import { locateFfmpeg } from '../../platform/ffmpeg.ts'
import { print, systemClock } from '../../platform/index.ts'
import {
  type ClockOffset,
  cleanText,
  type Finding,
  judgeStream,
  type OnvifAddress,
  type OnvifCredentials,
  type OnvifDevice,
  type Probed,
  plainWords,
  ringBytes,
  type StreamSource,
  usualPlace,
  usualPreRecordSeconds,
} from '../../video/index.ts'
import { becomeOwnerOf } from '../alone.ts'
import { untilInterrupted } from '../interrupt.ts'
import { usualConfig, usualConfigText } from '../usual-config.ts'
import { deviceWords, findingWords, madeWords, measuredWords } from './words.ts'

/** Builds `gatehouse camera probe|discover`. */
export function cameraCommand(): Command {
  const probe = new Command('probe')
    .description(
      'open a stream as the daemon does, judge it, and print a config entry for it; exit 1 if it cannot be used',
    )
    .argument('<url>', 'rtsp://HOST[:PORT]/PATH, without user name and password')
    .option('--username <name>', 'user name at the camera')
    .option('--password-file <file>', 'file with the password at the camera')
    .option(
      '--config <file>',
      `config that the entry is for: the next free id, preRecordSeconds, ffmpeg.path; ${usualConfigText}`,
    )
    .option('--seconds <n>', 'seconds to measure at least, 2 to 60', '10')
    .option('--json', 'for programs: {ok, problem, findings, answersWith, facts, clock, entry}')
    .action(probeCamera)
  const discover = new Command('discover')
    .description('look for ONVIF cameras on the networks of this box, and print a config entry for each')
    .option('--username <name>', 'user name at the cameras; sent as a digest to every device that answers')
    .option('--password-file <file>', 'file with the password at the cameras')
    .option('--config <file>', `config that the entries are for: the next free ids; ${usualConfigText}`)
    .option('--interface <name...>', 'search only these network interfaces')
    .option('--target <host...>', 'ask only these devices, HOST or HOST:PORT; they may be in other networks')
    .option('--seconds <n>', 'seconds to wait for answers, 1 to 60', '5')
    .option('--json', 'for programs: {devices}, each with its entries')
    .action(discoverCameras)
  return new Command('camera')
    .description('set up a camera')
    .addCommand(probe)
    .addCommand(discover)
    .addCommand(measureCommand(), { hidden: true })
}

type Credentials = { username?: string; passwordFile?: string }
type ProbeOptions = Credentials & { config?: string; seconds: string; json?: boolean }
type DiscoverOptions = ProbeOptions & { interface?: string[]; target?: string[] }

/** An item of `cameras` in the config. */
type Entry = { id: number; name?: string; url: string; detectUrl?: string; username?: string; passwordFile?: string }

async function probeCamera(url: string, options: ProbeOptions): Promise<void> {
  checkUrl(url)
  const source = { url, username: options.username ?? null, password: passwordOf(options) }
  const leastSeconds = secondsOf(options.seconds, 2)
  const { firstId, preRecordSeconds, ffmpegPath, dataDir } = settingsOf(options.config, url)
  const entry: Entry = { id: firstId, url, ...credentialsOf(options) }
  const streams = streamProbe(dataDir)
  becomeOwnerOf(dataDir)
  await untilInterrupted(async (signal) => {
    const { path } = locateFfmpeg({ configured: ffmpegPath })
    const [probed, { clock, stranger }] = await Promise.all([
      streams.probe({ ffmpegPath: path, source, leastSeconds }, signal),
      otherFacts(source, { clock: systemClock, signal }),
    ])
    await streams.end()
    if (signal.aborted) return
    const findings = probed.facts ? judgeStream(probed.facts, clock, { preRecordSeconds, ringBytes }) : []
    if (options.json)
      printJson({ ...answerOf(probed, findings), answersWith: stranger, facts: probed.facts, clock, entry })
    else printProbed(probed, findings, entry)
    if (!isUsable(probed)) throw new ExitError(1, options.json ? '' : problemWords(probed, stranger))
  })
}

/** A stream that ended or froze after its first seconds works, and its finding reports that. */
function isUsable({ facts, problem }: Probed): boolean {
  return facts !== null && facts.keyFrames > 0 && problem === null
}

function answerOf(probed: Probed, findings: readonly Finding[]) {
  const { problem } = probed
  return {
    ok: isUsable(probed),
    problem: problem === null ? null : { code: problem, ...plainWords(problem) },
    findings,
  }
}

function problemWords({ problem }: Probed, stranger: string | null): string {
  const { what, hint } = plainWords(problem ?? 'no-picture')
  return `${what} ${stranger === null ? '' : `It says ${JSON.stringify(stranger)}. `}${hint}`
}

function printProbed(probed: Probed, findings: readonly Finding[], entry: Entry): void {
  if (probed.facts)
    print(`${entry.url}, measured for ${Math.round(probed.facts.measuredSeconds)} s\n\n${findingWords(findings)}`)
  if (isUsable(probed)) print(`\n${entryWords([[entry, measuredWords(findings)]])}`)
}

/** Facts beside the stream. `stranger`: the answer of a server that does not speak RTSP. */
type OtherFacts = { readonly clock: ClockOffset; readonly stranger: string | null }

async function otherFacts(source: StreamSource, needs: OnvifNeeds): Promise<OtherFacts> {
  const { measured, stranger } = await askCameraClock(source, needs)
  const clock = measured && { seconds: measured.offsetMs / 1000, from: measured.by }
  return { clock, stranger: stranger === null ? null : cleanText(stranger) }
}

async function discoverCameras(options: DiscoverOptions): Promise<void> {
  const credentials = onvifCredentials(options)
  const seconds = secondsOf(options.seconds, 1)
  const targets = options.target?.map(targetOf)
  const interfaces = targets ? [] : interfacesOf(options.interface)
  const { firstId } = settingsOf(options.config)
  await untilInterrupted(async (signal) => {
    const needs = { clock: systemClock, signal }
    const found = targets ?? (await searchDevices(needs, interfaces, seconds))
    const devices = await askDevices(needs, found, credentials)
    if (signal.aborted) return
    const entries = entriesOf(devices, firstId, options)
    if (options.json) printJson({ devices: devices.map((device, i) => ({ ...device, entries: entries[i] })) })
    else printDevices(devices, entries, interfaces)
  })
}

function printDevices(
  devices: readonly OnvifDevice[],
  entries: readonly Entry[][],
  interfaces: readonly string[],
): void {
  if (devices.length === 0) {
    print(
      `No ONVIF device answered on ${interfaces.join(', ') || 'any interface'}. Switch ONVIF on in the cameras, or ask one in another network with --target HOST.\n`,
    )
  }
  for (const device of devices) print(`${deviceWords(device)}\n`)
  const all = devices.flatMap((device, i) => (entries[i] ?? []).map((entry) => [entry, madeWords(device)] as const))
  if (all.length > 0) print(entryWords(all))
}

/** One for each picture of each device. */
function entriesOf(devices: readonly OnvifDevice[], firstId: number, options: Credentials): Entry[][] {
  let id = firstId
  return devices.map(({ name, model, channels }) =>
    channels.map(({ main, sub }, i) => {
      const called = name || model
      const own = channels.length > 1 ? `${called} ${i + 1}`.trim() : called
      const basics = { id: id++, ...(own === '' ? {} : { name: own }), url: main.url }
      return { ...basics, ...(sub ? { detectUrl: sub.url } : {}), ...credentialsOf(options) }
    }),
  )
}

/** Returns the interfaces to look on: those given, otherwise all that reach other machines by IPv4. */
function interfacesOf(given: readonly string[] | undefined): string[] {
  const all = Object.entries(networkInterfaces()).map(([name, addresses = []]) => ({
    name,
    usable: addresses.filter(({ family }) => family === 'IPv4'),
  }))
  const unknown = given?.find((name) => !all.some((one) => one.name === name && one.usable.length > 0))
  if (unknown !== undefined) {
    const names = all.filter(({ usable }) => usable.length > 0).map(({ name }) => name)
    throw new ExitError(
      EXIT_USAGE,
      `--interface ${JSON.stringify(unknown)}: there is no such interface with an IPv4 address; there are ${names.join(', ')}`,
    )
  }
  return given
    ? [...given]
    : all.filter(({ usable }) => usable.some(({ internal }) => !internal)).map(({ name }) => name)
}

function targetOf(text: string): OnvifAddress {
  const url = URL.canParse(`http://${text}`) ? new URL(`http://${text}`) : undefined
  if (url?.username !== '' || url.pathname !== '/' || url.search !== '') {
    throw new ExitError(EXIT_USAGE, `--target ${JSON.stringify(text)} is neither HOST nor HOST:PORT`)
  }
  return { ...usualPlace, host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || usualPlace.port) }
}

function checkUrl(url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || (parsed.protocol !== 'rtsp:' && parsed.protocol !== 'rtsps:') || parsed.hostname === '') {
    throw new ExitError(
      EXIT_USAGE,
      'the address of a stream begins with rtsp:// or rtsps://, such as rtsp://10.0.0.21:554/main',
    )
  }
  if (parsed.username === '' && parsed.password === '') return
  throw new ExitError(
    EXIT_USAGE,
    'the url holds a user name or a password, which the shell keeps in its history. Write the password into a file that only you may read, and give --username NAME --password-file FILE and the url without them.',
  )
}

function onvifCredentials(options: Credentials): OnvifCredentials | null {
  const password = passwordOf(options)
  const { username } = options
  return username === undefined ? null : { username, password: password ?? '' }
}

/** Throws ExitError when the file cannot be read, or has no user name beside it. */
function passwordOf({ username, passwordFile }: Credentials): string | null {
  if (passwordFile === undefined) return null
  if (username === undefined) throw new ExitError(EXIT_USAGE, '--password-file needs --username')
  try {
    return readSecretFile(passwordFile)
  } catch (error) {
    if (error instanceof SecretFileError) throw new ExitError(1, error.message, error)
    throw error
  }
}

function credentialsOf({ username, passwordFile }: Credentials): Pick<Entry, 'username' | 'passwordFile'> {
  return { ...(username === undefined ? {} : { username }), ...(passwordFile === undefined ? {} : { passwordFile }) }
}

type Settings = { firstId: number; preRecordSeconds: number; ffmpegPath: string | null; dataDir: string }

/** Returns the settings of the config. A camera that it has already keeps its id. */
function settingsOf(given: string | undefined, url?: string): Settings {
  const file = usualConfig(given)
  const { config } = loadConfig(file)
  const known = config.cameras.find((camera) => camera.url === url)
  const nextId = file === undefined ? 1 : Math.max(0, ...config.cameras.map(({ id }) => id)) + 1
  const preRecordSeconds = known?.motion.preRecordSeconds ?? usualPreRecordSeconds
  return { firstId: known?.id ?? nextId, preRecordSeconds, ffmpegPath: config.ffmpeg.path, dataDir: config.dataDir }
}

function secondsOf(text: string, least: number): number {
  const seconds = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (seconds < least || seconds > 60)
    throw new ExitError(EXIT_USAGE, `--seconds is a whole number from ${least} to 60`)
  return seconds
}

/** Returns the entries as YAML, each below its comment. */
function entryWords(entries: readonly (readonly [Entry, comment: string])[]): string {
  const isRelative = entries.some(([{ passwordFile }]) => passwordFile !== undefined && !passwordFile.startsWith('/'))
  const hint = isRelative ? '# a relative passwordFile is looked for in the folder of the config\n' : ''
  const document = new Document({ cameras: entries.map(([entry]) => entry) })
  const list = document.get('cameras')
  for (const [i, [, comment]] of entries.entries()) {
    const item = isSeq(list) ? list.items[i] : undefined
    if (isMap(item) && comment !== '') item.commentBefore = ` ${comment}`
  }
  return `for the config:\n\n${hint}${document.toString({ lineWidth: 0 })}`
}

function printJson(value: unknown): void {
  print(`${JSON.stringify(value)}\n`)
}

/** The process of `streamProbe`: measures the streams of each line on stdin until stdin ends. */
function measureCommand(): Command {
  return new Command('measure')
    .description('measure the streams that a command of root names on stdin')
    .action(() => untilInterrupted(measure))
}

async function measure(interrupted: AbortSignal): Promise<void> {
  const ended = new AbortController()
  const signal = AbortSignal.any([interrupted, ended.signal])
  const underWay: Promise<void>[] = []
  const answer = async (line: string) => {
    const { id, wanted }: ProbeQuestion = JSON.parse(line)
    const probed = await probeHere(wanted, signal)
    print(`${JSON.stringify({ id, probed } satisfies ProbeReply)}\n`)
  }
  const lines = createInterface({ input: process.stdin })
  interrupted.addEventListener('abort', () => lines.close(), { once: true })
  for await (const line of lines) underWay.push(answer(line))
  ended.abort()
  await Promise.all(underWay)
}
