import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

export type Ran = { readonly code: number | null; readonly output: string }

const bootLimitMs = 90_000
const plainEnvironment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', TERM: 'dumb', LC_ALL: 'C.UTF-8' }

/** A Debian that runs systemd in a folder, with its own network that reaches nothing. */
export class Container {
  readonly #nspawn: ChildProcess
  /** Its first process, as this machine sees it; nsenter enters it. */
  readonly leader: number

  private constructor(nspawn: ChildProcess, leader: number) {
    this.#nspawn = nspawn
    this.leader = leader
  }

  /** Boots the folder and resolves when systemd has started everything. @param source the tree to show as /src */
  static async boot(folder: string, source: string): Promise<Container> {
    const args = ['--quiet', '--register=no', '--keep-unit', '--private-network', '--console=pipe', '-b', '-D', folder]
    // nspawn's own list leaves out mlock, without which ffmpeg's libraries warn, as they do on no real box.
    const more = [`--bind-ro=${source}:/src`, '--system-call-filter=@memlock']
    const nspawn = spawn('systemd-nspawn', [...args, ...more], { stdio: 'ignore' })
    const untilMs = performance.now() + bootLimitMs
    while (performance.now() < untilMs && nspawn.exitCode === null) {
      await pause(500)
      const leader = childOf(nspawn.pid ?? 0)
      if (leader === undefined) continue
      const container = new Container(nspawn, leader)
      if (/^(running|degraded)$/m.test((await container.run('systemctl is-system-running')).output)) return container
    }
    nspawn.kill('SIGKILL')
    throw new Error(`${folder} did not boot in systemd-nspawn (exit code ${nspawn.exitCode ?? 'none'})`)
  }

  /** Runs a line of shell as root inside; what it printed, both streams together. */
  async run(script: string): Promise<Ran> {
    const child = spawn('nsenter', ['-t', String(this.leader), '-a', 'sh', '-c', script], {
      env: plainEnvironment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, output }
  }

  /** Runs a line that must succeed, and returns what it printed. */
  async must(script: string): Promise<string> {
    const { code, output } = await this.run(script)
    if (code !== 0) throw new Error(`"${script}" ended with ${code}:\n${output}`)
    return output
  }

  /** Runs a line every second until it succeeds. */
  async until(script: string, limitMs: number): Promise<void> {
    const untilMs = performance.now() + limitMs
    let last: Ran = { code: null, output: '' }
    while (performance.now() < untilMs) {
      last = await this.run(script)
      if (last.code === 0) return
      await pause(1000)
    }
    throw new Error(`"${script}" did not succeed within ${limitMs / 1000} s:\n${last.output}`)
  }

  async stop(): Promise<void> {
    if (this.#nspawn.exitCode !== null) return
    const ended = once(this.#nspawn, 'exit')
    await this.run('systemctl poweroff')
    await ended
  }
}

/** Whether this machine can boot a container: root, and the programs. */
export function whyNoContainer(): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs root'
  for (const tool of ['systemd-nspawn', 'nsenter', 'mmdebstrap']) {
    if (spawnSync(tool, ['--version'], { stdio: 'ignore' }).status !== 0) return `there is no ${tool}`
  }
  return undefined
}

function childOf(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]) || undefined
  } catch {
    return undefined
  }
}
