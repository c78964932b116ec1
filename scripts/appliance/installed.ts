import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { footage } from '../../test/support/footage.ts'
import { buildFolder, root } from '../build/inputs.ts'
import { editionOf } from '../package/deb.ts'
import { Container, whyNoContainer } from './container.ts'
import { headOfficeTrials } from './head-office.ts'
import { quickDeb } from './package.ts'
import { sandboxOf } from './sandbox.ts'
import { suite } from './suite.ts'
import { type Bench, holds, run, Skipped, type Trial } from './trial.ts'
import { upgradeTrials } from './upgrades.ts'

const system = 'systemd,systemd-sysv,dbus,ffmpeg,init-system-helpers,debconf,curl,ca-certificates,procps,postgresql'
const conf = '/etc/gatehouse/gatehouse.yaml'
const ledger = '/var/lib/gatehouse/gatehouse.db'
const apt = 'DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Use-Pty=0 -qq -y --no-install-recommends'
const watchdogLimitMs = 150_000

let container: Container | undefined
let deb = ''
let place = ''

/** Path of the Debian with these packages. */
const debianTar = () =>
  join(buildFolder, `debian-${createHash('sha256').update(`${suite} ${system}`).digest('hex').slice(0, 8)}.tar`)

/** Makes a Debian, once for this machine, and copies it to `place`. */
export async function debianAt(place: string): Promise<void> {
  const why = whyNoContainer()
  if (why !== undefined) throw new Skipped(why)
  const image = debianTar()
  mkdirSync(buildFolder, { recursive: true })
  if (!existsSync(image)) await run('mmdebstrap', ['--variant=minbase', `--include=${system}`, suite, image])
  mkdirSync(place)
  await run('tar', ['-xf', image, '-C', place, '--exclude=./dev/*'])
  writeFileSync(join(place, 'etc/machine-id'), '')
}

async function boot({ folder }: Bench): Promise<void> {
  place = join(folder, 'root')
  await debianAt(place)
  deb = basename(await quickDeb(folder))
  copyFileSync(join(folder, deb), join(place, 'root', deb))
  container = await Container.boot(place, root)
}

const box = (): Container => {
  if (!container) throw new Skipped('there is no container')
  return container
}

async function install({ say }: Bench): Promise<void> {
  await box().must(`cd /root && ${apt} install ./${deb}`)
  holds((await box().run('systemctl is-active gatehouse')).code !== 0, 'it started before the site has an id')
  await box().must(`sed -i 's/^  id: .*/  id: hall-9/' ${conf} && systemctl enable --now gatehouse`)
  const status = await box().must('systemctl status gatehouse --no-pager')
  holds(/Status: "Serving hall-9 on http/.test(status), `systemd does not say what it serves:\n${status}`)
  const { version } = editionOf(root)
  const health = await box().must('curl -fsS http://127.0.0.1:8480/api/health')
  holds(health.includes(`"version":"${version}"`), health)
  const user = await box().must('ps -o user= -p $(systemctl show gatehouse -p MainPID --value)')
  holds(user.trim() === 'gatehouse', `it runs as ${user}`)
  say(await box().must('systemctl show gatehouse -p MemoryCurrent,TasksCurrent | tr "\\n" " "'))
}

async function story({ say }: Bench): Promise<void> {
  // Its source is read-only inside.
  await Promise.all([footage('crossing'), footage('empty')])
  await run('chmod', ['-R', 'a+rX', join(root, '.cache')])
  const shut = sandboxOf(join(root, 'systemd/gatehouse.service'), ['/src']).map((one) => `'${one}'`)
  const node = `/src/node_modules/node-linux-${process.arch}/bin/node --disable-warning=ExperimentalWarning`
  await box().must('systemctl stop gatehouse')
  try {
    const played = await box().must(
      `systemd-run --quiet --wait --pipe --collect ${shut.join(' ')} --working-directory=/tmp ` +
        `${node} /src/scripts/appliance/play-story.ts /usr/bin/gatehouse`,
    )
    for (const line of played.trim().split('\n')) say(line)
  } finally {
    await box().must('systemctl start gatehouse')
  }
}

async function reload(): Promise<void> {
  await box().must(`printf '\\nrateLimit: { requestsPerMinute: 77 }\\n' > /etc/gatehouse/conf.d/rate.yaml`)
  await box().must('chmod 0644 /etc/gatehouse/conf.d/rate.yaml && systemctl reload gatehouse')
  await box().until('journalctl -u gatehouse -o cat | grep -q "config reloaded.*rateLimit.requestsPerMinute"', 20_000)
  await box().must('journalctl -u gatehouse -o json GATEHOUSE_SITE=hall-9 | grep -q "gatehouse is up"')
  await box().must('systemctl is-active gatehouse')
  const errors = await box().must('journalctl -u gatehouse -p err -o cat --no-pager')
  holds(!/ERROR/.test(errors), errors)
}

async function watchdog({ say }: Bench): Promise<void> {
  const restarts = 'systemctl show gatehouse -p NRestarts --value'
  const before = (await box().must(restarts)).trim()
  const startedMs = performance.now()
  await box().must('systemctl kill --signal=STOP gatehouse')
  await box().until(`test "$(${restarts})" != ${before} && systemctl is-active -q gatehouse`, watchdogLimitMs)
  await box().must('journalctl -u gatehouse -o cat | grep -q "Watchdog timeout"')
  await box().must('curl -fsS http://127.0.0.1:8480/api/ping')
  say(`it served again ${Math.round((performance.now() - startedMs) / 1000)} s after it was stopped dead`)
}

async function badConfig(): Promise<void> {
  await box().must(`cp ${conf} /var/tmp/kept.yaml && echo 'sitte: {}' >> ${conf}`)
  await box().run('systemctl restart gatehouse')
  const state = await box().must('systemctl show gatehouse -p ExecMainStatus,ActiveState,NRestarts | tr "\\n" " "')
  holds(/ExecMainStatus=78/.test(state) && /ActiveState=failed/.test(state), state)
  await box().must(`cat /var/tmp/kept.yaml > ${conf} && systemctl reset-failed gatehouse && systemctl start gatehouse`)
}

async function upgrade(): Promise<void> {
  await box().must(`echo '# mine' >> ${conf}`)
  const pid = 'systemctl show gatehouse -p MainPID --value'
  const before = await box().must(pid)
  await box().must(`cd /root && ${apt} install --reinstall ./${deb}`)
  holds((await box().must(pid)) !== before, 'the new version does not run')
  await box().must(`grep -q '^# mine' ${conf} && systemctl is-active gatehouse`)
}

async function remove(): Promise<void> {
  await box().must(`${apt} remove gatehouse`)
  await box().must(`test -f ${ledger} && test -f ${conf} && ! test -e /usr/bin/gatehouse && ! pgrep -u gatehouse`)
  const said = await box().must(`${apt} purge gatehouse 2>&1`)
  holds(/stay in \/var\/lib\/gatehouse/.test(said), `the unattended purge does not say where the ledger is:\n${said}`)
  await box().must(`test -f ${ledger} && ! test -e /etc/gatehouse && ! systemctl cat gatehouse`)
}

async function end(): Promise<void> {
  await box().stop()
}

/** Trials with the package installed, in this order. */
export const installedTrials: readonly Trial[] = [
  { name: 'installed: a Debian boots', play: boot },
  { name: 'installed: apt installs the package, and the service serves once the site has an id', play: install },
  { name: 'installed: the whole story with cameras plays within the limits of the unit', play: story },
  { name: 'installed: systemctl reload applies a drop-in', play: reload },
  { name: 'installed: a gateway that hangs is killed and started again', play: watchdog },
  { name: 'installed: a bad config is not started again', play: badConfig },
  { name: 'installed: an upgrade restarts the service and keeps the edited config', play: upgrade },
  ...upgradeTrials(() => ({ box: box(), place, deb: join(place, 'root', deb) })),
  ...headOfficeTrials(() => ({ box: box(), place, deb: join(place, 'root', deb) })),
  { name: 'installed: removing keeps the state, an unattended purge keeps the ledger and says where', play: remove },
  { name: 'installed: the Debian stops', play: end },
]
