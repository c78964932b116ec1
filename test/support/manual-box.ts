/** A box in a folder, on which commands of the manual run as they are written. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { freePort } from '../../scripts/demo-parts/ports.ts'
import { type Finished, gatehouse, runToEnd } from './process.ts'

/** Folders of a real box; each is below the folder of this box. */
const ownFolders =
  /(?<![\w.:-])\/(?:etc\/gatehouse|var\/lib\/gatehouse|mnt\/nas|var\/backups|srv\/rehearsal|usr\/share\/doc\/gatehouse|state\/scales)\b/g

/** Programs that need root or another system: what they do here. `B` is the folder of the box. */
const programs: Readonly<Record<string, string>> = {
  // Everything belongs to the one who runs the test.
  sudo: 'while :; do case "$1" in -u) shift 2;; -*) shift;; *) break;; esac; done; exec "$@"',
  runuser: 'shift 3; exec "$@"',
  chgrp: 'exit 0',
  chown: 'exit 0',
  install: `set -- "$@" --; while [ "$1" != -- ]; do case "$1" in -o|-g) shift 2;; *) set -- "$@" "$1"; shift;; esac; done
shift; exec /usr/bin/install "$@"`,
  // The program finds its config at one place; here it is named.
  gatehouse: `case " $* " in *" --config "*|*" --help "*|" version "*|" openapi "*|" manual "*|" config example "*|" config reference "*) ;;
" config check "*) set -- "$@" "$B/etc/gatehouse/gatehouse.yaml";;
" hub join "*|*" hub "*) ;;
*) set -- "$@" --config "$B/etc/gatehouse/gatehouse.yaml";; esac
exec "$GATEHOUSE" "$@"`,
  // As with systemd, the command ends when the service is up, down, or has reloaded.
  systemctl: `for unit; do :; done; act=$1; log=$B/log-$unit; pid=$B/pid-$unit
case $unit in gatehouse-scale@*) exit 0;; gatehouse-hub) run="hub serve"; config=hub.yaml;; *) run=serve; config=gatehouse.yaml;; esac
count() { grep -c -e 'onfig' -e 'is up' "$log" 2>/dev/null; }
stop() { [ -f "$pid" ] || return 0; kill $(cat "$pid"); until grep -q stopped "$log"; do sleep 0.1; done; rm -f "$pid"; }
case $act in stop|restart) stop;; esac
case $act in enable|start|restart)
  "$GATEHOUSE" $run --config "$B/etc/gatehouse/$config" </dev/null >/dev/null 2>"$log" & echo $! >"$pid"
  until grep -q 'is up' "$log"; do kill -0 $(cat "$pid") || { cat "$log" >&2; exit 1; }; sleep 0.1; done;;
reload) n=$(count); kill -HUP $(cat "$pid"); until [ "$(count)" -gt "$n" ]; do sleep 0.1; done;; esac
exit 0`,
}

export type ManualBox = {
  readonly folder: string
  /** Address of the gateway for the floor. */
  readonly url: string
  /** Address for programs on the box. */
  readonly localUrl: string
  /** Returns the path of a file on the box. */
  at(path: string): string
  /** Runs a script of the manual in the home folder of a person at the box. */
  run(script: string, options?: { input?: string; env?: Record<string, string> }): Promise<Finished>
  end(): Promise<void>
}

/** Makes a box on which nothing runs yet, with the config of the package. */
export async function manualBox(): Promise<ManualBox> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-manual-'))
  const [port, localPort] = [await freePort(), await freePort()]
  const at = (path: string) => join(folder, path)
  for (const path of [
    'bin',
    'home',
    'run',
    'etc/gatehouse/conf.d',
    'etc/gatehouse/secrets',
    'var/lib/gatehouse',
    'mnt/nas/gatehouse',
    'var/backups',
    'state/scales',
  ])
    mkdirSync(at(path), { recursive: true })
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(at(`bin/${name}`), `#!/bin/sh\n${text}\n`)
    chmodSync(at(`bin/${name}`), 0o755)
  }
  const config = { site: { id: 'dc-7' }, dataDir: at('var/lib/gatehouse'), runtimeDir: at('run') }
  const small = { retention: { minFreeBytes: '1B', ledgerReserveBytes: '1B' }, rateLimit: { requestsPerMinute: 1e6 } }
  writeFileSync(at('etc/gatehouse/gatehouse.yaml'), JSON.stringify({ ...config, ...small }))
  const env = {
    ...process.env,
    B: folder,
    GATEHOUSE: gatehouse,
    PATH: `${at('bin')}:${process.env['PATH']}`,
    PAGER: 'cat',
  }
  const rewritten = (script: string) =>
    script
      .replaceAll(ownFolders, (path) => `${folder}${path}`)
      .replaceAll('8480', String(localPort))
      .replaceAll('8443', String(port))
  const run: ManualBox['run'] = (script, { input = '', env: more = {} } = {}) =>
    // A script may open /dev/stdin, which it cannot where that is a socket.
    runToEnd('sh', ['-c', 'cat | sh -e -c "$0"', rewritten(script)], {
      cwd: at('home'),
      input,
      env: { ...env, ...more },
    })
  return {
    ...{ folder, at, run, url: `https://localhost:${port}`, localUrl: `http://127.0.0.1:${localPort}` },
    end: async () => {
      for (const unit of ['gatehouse', 'gatehouse-hub'])
        if (existsSync(at(`pid-${unit}`))) await run(`systemctl stop ${unit}`)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Writes a file of the box, with its folder. */
export function putFile(box: ManualBox, path: string, text: string): void {
  mkdirSync(dirname(box.at(path)), { recursive: true })
  writeFileSync(box.at(path), text, { mode: 0o600 })
}

export type Script = {
  readonly heading: string
  readonly line: number
  readonly language: string
  readonly text: string
}

/** Reads the blocks of code of a page, each with its heading. Text is without the indent of a list. */
export function blocksOf(file: string): Script[] {
  const blocks: Script[] = []
  let heading = ''
  let open: { language: string; line: number; indent: string; lines: string[] } | undefined
  for (const [index, line] of readFileSync(file, 'utf8').split('\n').entries()) {
    const [, indent = '', language = ''] = /^(\s*)```(\w*)/.exec(line) ?? []
    const isFence = /^\s*```/.test(line)
    if (isFence && open) {
      blocks.push({ heading, line: open.line, language: open.language, text: `${open.lines.join('\n')}\n` })
      open = undefined
    } else if (isFence) open = { language, line: index + 2, indent, lines: [] }
    else if (open) open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line)
    else heading = /^#+ (.*)/.exec(line)?.[1] ?? heading
  }
  return blocks
}
