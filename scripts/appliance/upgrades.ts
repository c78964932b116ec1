import { appendFileSync, copyFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { root } from '../build/inputs.ts'
import { editionOf } from '../package/deb.ts'
import type { Container } from './container.ts'
import { type Bench, holds, type Trial } from './trial.ts'
import { buildSickVersion, otherVersion, renumber, scriptFor } from './versions.ts'

/** A box that serves, and the package that it was installed from. */
export type Installed = { readonly box: Container; readonly place: string; readonly deb: string }

const apt = 'DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Use-Pty=0 -qq -y --no-install-recommends'
const serves = 'curl -fsS http://127.0.0.1:8480/api/health'
export const { version } = editionOf(root)
export const next = version.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10))
const dropIns = '/etc/systemd/system/gatehouse.service.d'

let events = 0

/** Records `count` events, in a separate aisle. */
async function record({ box, place }: Installed, aisle: string, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, n) => n + 1)
  const list = (head: string, line: (n: number) => string) => `${[head, ...numbers.map(line)].join('\n')}\n`
  writeFileSync(
    join(place, 'root/slots.csv'),
    list('slot_id', (n) => `${aisle}-${n}-1`),
  )
  writeFileSync(
    join(place, 'root/stock.csv'),
    list('slot_id,asset_barcode', (n) => `${aisle}-${n}-1,P-${aisle}-${n}`),
  )
  await box.must('gatehouse import slots /root/slots.csv --warehouse Hall --grid --create-zones')
  await box.must('gatehouse import opening-stock /root/stock.csv')
  events += count
}

async function allThere({ box }: Installed): Promise<void> {
  const found = JSON.parse(await box.must('gatehouse ledger verify --json')) as { ok: boolean; events: number }
  holds(found.ok && found.events === events, `not all of ${events} events: ${JSON.stringify(found).slice(0, 1000)}`)
}

const serving = async ({ box }: Installed, wanted: string) =>
  holds((await box.must(serves)).includes(`"version":"${wanted}"`), `version ${wanted} does not serve`)

/** Makes a package of another version, and puts it beside the installed one. */
export async function bring(
  { place, deb }: Installed,
  to: string,
  name: string,
  change: (binary: string) => void,
): Promise<string> {
  const made = await otherVersion(deb, { to, version: `${version}+${name}`, change })
  copyFileSync(made, join(place, 'root', basename(made)))
  return `cd /root && ${apt} install ./${basename(made)} 2>&1`
}

// As examples/bin/take-offer does, without a person to answer.
const keeps = '-o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold'

/** Reinstalls the version of this tree, as a person would. Returns the output of apt. */
export const putBack = ({ box, deb }: Installed): Promise<string> =>
  box.must(`cd /root && ${apt} ${keeps} install --reinstall --allow-downgrades ./${basename(deb)} 2>&1`)

async function restore(at: Installed): Promise<void> {
  await putBack(at)
  await serving(at, version)
}

async function rehearsed(at: Installed, { folder, say }: Bench): Promise<void> {
  const { box } = at
  await box.must('gatehouse warehouse add --name Hall --timezone UTC')
  await record(at, 'A', 100)
  const said = await box.must(await bring(at, folder, 'next', (binary) => renumber(binary, version, next)))
  say(/^schema .*$/m.exec(said)?.[0] ?? said)
  holds(new RegExp(`[1-9]\\d+ answers compared with version ${version.replaceAll('.', '\\.')}`).test(said), said)
  await serving(at, next)
  await box.must('test -e /usr/lib/gatehouse/versions/healthy-since && systemctl is-active -q gatehouse-trial')
  await box.must('gatehouse rollback --check && gatehouse rollback')
  await serving(at, version)
  await allThere(at)
  const again = await box.run('gatehouse rollback')
  holds(again.code === 1 && /nothing to go back from/.test(again.output), again.output)
}

/**
 * `serve` of the new version runs only the shell line: apt fails, and the previous version serves again.
 */
async function neverHealthy(at: Installed, { folder, say }: Bench, name: string, serve: string): Promise<void> {
  const { box } = at
  const startedMs = performance.now()
  const install = await bring(at, folder, name, (binary) => scriptFor(binary, serve))
  const { code, output } = await box.run(install)
  holds(code !== 0 && /did not become healthy, and the one before is back/.test(output), output)
  await box.until(`systemctl is-active -q gatehouse && ${serves} | grep -q '"version":"${version}"'`, 60_000)
  say(`the version before served again ${Math.round((performance.now() - startedMs) / 1000)} s after apt began`)
  await allThere(at)
  await restore(at)
}

/** A version that never says that it is ready; systemd waits five minutes, here fifteen seconds. */
async function hangsAtStart(at: Installed, bench: Bench): Promise<void> {
  const { box } = at
  await box.must(`mkdir -p ${dropIns} && printf '[Service]\\nTimeoutStartSec=15s\\n' > ${dropIns}/quick.conf`)
  try {
    await neverHealthy(at, bench, 'mute', 'exec sleep 1d')
  } finally {
    await box.must(`rm ${dropIns}/quick.conf && systemctl daemon-reload`)
  }
}

/** The new version is healthy and then hangs. The watchdog ends it, and its trial is not over. */
async function hangsLater(at: Installed, { folder, say }: Bench): Promise<void> {
  const { box } = at
  await box.must(await bring(at, folder, 'stuck', (binary) => renumber(binary, version, next)))
  await serving(at, next)
  const startedMs = performance.now()
  await box.must('systemctl kill --signal=STOP gatehouse')
  await box.until(`systemctl is-active -q gatehouse && ${serves} | grep -q '"version":"${version}"'`, 150_000)
  await box.must('journalctl -u gatehouse -o cat | grep -q "did not stay so (watchdog); the one before is back"')
  say(
    `the version before served again ${Math.round((performance.now() - startedMs) / 1000)} s after the new one stood still`,
  )
  await allThere(at)
  await restore(at)
}

/** A version that adds to the schema, is healthy, records, and then answers 503 while it lives on. */
async function sick(at: Installed, { folder, say }: Bench): Promise<void> {
  const { box } = at
  const built = await buildSickVersion(join(folder, 'sick'), next)
  const said = await box.must(await bring(at, folder, 'sick', (binary) => copyFileSync(built, binary)))
  say(/^schema .*$/m.exec(said)?.[0] ?? said)
  await serving(at, next)
  await record(at, 'B', 20)
  const startedMs = performance.now()
  await box.until(`curl -sS http://127.0.0.1:8480/api/health | grep -q '"status":"unhealthy"'`, 120_000)
  await box.until(`systemctl is-active -q gatehouse && ${serves} | grep -q '"version":"${version}"'`, 240_000)
  await box.must(
    'journalctl -u gatehouse-trial -o cat | grep -q "was healthy and is not any more; the one before is back"',
  )
  say(`the version before serves a ledger of schema 17, ${Math.round((performance.now() - startedMs) / 1000)} s later`)
  await allThere(at)
  await record(at, 'C', 5)
  await allThere(at)
  await restore(at)
}

/** The new version brings a changed example config, and an admin has edited the old one. */
async function otherExample(at: Installed, { folder }: Bench): Promise<void> {
  const { box } = at
  const conf = '/etc/gatehouse/gatehouse.yaml'
  await box.must(`echo '# mine' >> ${conf}`)
  const install = await bring(at, folder, 'other', (binary) => {
    renumber(binary, version, next)
    appendFileSync(join(binary, '../../../etc/gatehouse/gatehouse.yaml'), '# a new key\n')
  })
  await box.must(`${install.replace(' install ', ` ${keeps} install `)} < /dev/null`)
  await serving(at, next)
  await box.must(`grep -q '^# mine' ${conf} && ! grep -q '^# a new key' ${conf} && test -e ${conf}.dpkg-dist`)
  await allThere(at)
  await restore(at)
}

/** Trials of upgrades on an installed box, one after the other. */
export function upgradeTrials(installed: () => Installed): Trial[] {
  const trial = (name: string, play: (at: Installed, bench: Bench) => Promise<void>): Trial => ({
    name: `installed: ${name}`,
    play: (bench) => play(installed(), bench),
  })
  return [
    trial('another version is rehearsed before it takes over, and rollback goes back', rehearsed),
    trial('a version with another example of the config asks nobody, and keeps the one of the admin', otherExample),
    trial('a version that does not start gives way to the one before, with every event', (at, bench) =>
      neverHealthy(at, bench, 'vain', 'exit 1'),
    ),
    trial('a version that finds the config bad (78) gives way', (at, bench) =>
      neverHealthy(at, bench, 'picky', 'exit 78'),
    ),
    trial('a version that hangs at its start gives way', hangsAtStart),
    trial('a version that hangs in its trial gives way', hangsLater),
    trial('a version with a newer schema that turns unhealthy in its trial gives way, with what it recorded', sick),
  ]
}
