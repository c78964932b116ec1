/** `scripts/apt-repository` with an apt-ftparchive that lists the names of the packages, and a gpg that signs nothing. */
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'

const script = join(import.meta.dirname, '../../scripts/apt-repository')
const daySeconds = 86_400

function repository(t: Test) {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-apt-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const tools = join(root, 'tools')
  mkdirSync(tools)
  const program = (name: string, lines: string) =>
    writeFileSync(join(tools, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
  program('apt-ftparchive', 'for last; do :; done; find "$last" -name "*.deb" | sort | sed "s/^/Package: /"')
  program('gpg', 'while [ $# -gt 0 ]; do if [ "$1" = --output ]; then : > "$2"; fi; shift; done')
  const lists = join(root, 'repository/dists/stable/main/binary-amd64/by-hash/SHA256')
  const kept = () => readdirSync(lists).sort()
  const publish = (version: string, content = version) => {
    const deb = join(root, `gatehouse_${version}_amd64.deb`)
    writeFileSync(deb, content)
    const env = { PATH: `${tools}:${process.env['PATH']}` }
    execFileSync('sh', [script, join(root, 'repository'), 'KEY', deb], { env })
    return kept()
  }
  /** As if that many days went by without anything published. */
  const wait = (days: number) => {
    const then = Date.now() / 1000 - days * daySeconds
    for (const name of kept()) utimesSync(join(lists, name), then, then)
  }
  /** Returns the package that a box opened before `meanwhile` and reads after it, and whether the list is another file then. */
  const readDuring = (version: string, meanwhile: () => void) => {
    const list = join(lists, kept()[0] ?? '')
    const before = statSync(list).ino
    const open = openSync(join(root, `repository/pool/main/g/gatehouse/gatehouse_${version}_amd64.deb`), 'r')
    try {
      meanwhile()
      return { deb: readFileSync(open, 'utf8'), isListReplaced: statSync(list).ino !== before }
    } finally {
      closeSync(open)
    }
  }
  return { publish, wait, readDuring }
}

t.test('a box that has begun to update still finds its lists when they are replaced after a quiet year', async (t) => {
  const { publish, wait } = repository(t)
  const first = publish('1.0.0')
  t.equal(first.length, 2, 'Packages and Packages.gz')
  wait(365)
  const second = publish('1.1.0')
  t.equal(second.length, 4)
  t.ok(
    first.every((name) => second.includes(name)),
    'those of before were in use until now',
  )
  wait(40)
  const third = publish('1.2.0')
  t.equal(third.length, 4)
  t.notOk(
    first.some((name) => third.includes(name)),
    'those of a month ago go',
  )
})

t.test('a box that is reading a package or a list has it to the end when it is published again', async (t) => {
  const { publish, readDuring } = repository(t)
  publish('1.0.0', 'made once')
  t.match(
    readDuring('1.0.0', () => publish('1.0.0', 'made again')),
    { deb: 'made once', isListReplaced: true },
  )
  t.match(
    readDuring('1.0.0', () => {}),
    { deb: 'made again' },
  )
})
