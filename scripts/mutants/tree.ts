import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { changed, type Guard, literal } from './guards.ts'

/** A test that waits for what a mutant prevents ends after this time. */
const longestSeconds = 120

/** A copy of the source tree in which one mutant after the other is tried. */
export class Tree {
  readonly #folder = mkdtempSync(join(tmpdir(), 'gatehouse-mutants-'))

  constructor() {
    const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
    // With their times: a lockfile newer than the packages would install them through the link.
    for (const file of listed.split('\n').filter((name) => name && existsSync(name))) {
      cpSync(file, join(this.#folder, file), { preserveTimestamps: true })
    }
    // The packages, the drawn footage and the made PostgreSQL are shared with the tree itself.
    for (const made of ['node_modules', '.cache/footage', '.cache/postgres']) this.#link(made)
    // Checks list files by git.
    execFileSync('git', ['init', '-q'], { cwd: this.#folder })
  }

  /** Makes the change, runs its test, takes the change back. */
  async try(guard: Guard): Promise<{ isCaught: boolean; output: string }> {
    const file = join(this.#folder, guard.file)
    writeFileSync(file, changed(guard))
    try {
      const { status, output } = await this.#run(guard)
      const hasRun = guard.title === undefined || /^# Subtest: /m.test(output)
      return { isCaught: status !== 0 && hasRun, output }
    } finally {
      writeFileSync(file, readFileSync(guard.file))
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  async #run({ test, title }: Guard): Promise<{ status: number; output: string }> {
    const check = test.match(/^check (.+)$/)?.[1]
    const child = spawn(process.execPath, check === undefined ? [test] : ['scripts/check.ts', check], {
      cwd: this.#folder,
      // The leader of a group, so that the daemons and browsers of an ended test end with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        TEST_PATIENCE_MS: '20000',
        TAP_TIMEOUT: String(longestSeconds),
        // Quietly: else tap skips every test that shares the options of a skipped one.
        ...(title !== undefined && { TAP_GREP: `/^${literal(title)}$/`, TAP_FILTER_QUIETLY: '1' }),
      },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    const tooLong = setTimeout(() => endGroup(child.pid), longestSeconds * 1000)
    const status = await new Promise<number>((ended) => child.once('close', (code) => ended(code ?? 1)))
    clearTimeout(tooLong)
    endGroup(child.pid)
    return { status, output }
  }

  #link(name: string): void {
    const link = join(this.#folder, name)
    mkdirSync(resolve(name), { recursive: true })
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(resolve(name), link)
  }
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
