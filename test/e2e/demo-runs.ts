import { type ChildProcess, spawn } from 'node:child_process'
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'

export const root = resolve(import.meta.dirname, '../..')
export const gatehouse = join(root, 'scripts/gatehouse')

type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

type Running = {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Resolves once that text has been printed, or with the end. */
  said(text: string): Promise<unknown>
}

/** A folder for everything temporary that a demo makes. */
export function temporary(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'demo-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * scripts/demo as a person starts it. Each of its gateways starts from the bundle where there is one, or from the sources, as on
 * the machine of that person.
 */
export function demo(t: Test, args: readonly string[], folder = temporary(t), isFromSources = false): Running {
  const names = isFromSources ? [] : ['GATEHOUSE_PROGRAM', 'NODE_COMPILE_CACHE']
  const bundle = names.map((name) => [name, process.env[name]])
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: folder, ...Object.fromEntries(bundle) }
  const child = spawn(join(root, 'scripts/demo'), args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  const heard = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (part: Buffer) => {
      heard[name] += part.toString('utf8')
    })
  }
  const ended = new Promise<Ended>((done) => child.once('close', (code) => done({ code, ...heard })))
  const said = (text: string) => {
    const heardIt = new Promise<void>((done) => {
      const look = () => heard.stdout.includes(text) && done()
      child.stdout.on('data', look)
      look()
    })
    return Promise.race([heardIt, ended])
  }
  return { child, ended, said }
}

/** Processes whose command line holds that text. */
export function processesWith(text: string): string[] {
  return globSync('/proc/[0-9]*/cmdline').flatMap((file) => {
    try {
      const line = readFileSync(file, 'utf8').replaceAll('\0', ' ')
      return line.includes(text) ? [line] : []
    } catch {
      return []
    }
  })
}

export function leavesNothing(t: Test, folder: string): void {
  t.strictSame(readdirSync(folder), [], 'no file is left behind')
  t.strictSame(processesWith(folder), [], 'no process is left behind')
}

/** A gatehouse command that does `instead` first. */
export function altered(t: Test, instead: string): string {
  const file = join(temporary(t), 'gatehouse')
  writeFileSync(file, `#!/bin/sh\n${instead}\nexec '${gatehouse}' "$@"\n`, { mode: 0o755 })
  return file
}
