import { copyFileSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { buildFolder, root } from '../build/inputs.ts'
import { Container, whyNoContainer } from './container.ts'
import { quickDeb } from './package.ts'
import { suite } from './suite.ts'
import { type Bench, holds, run, Skipped, type Trial } from './trial.ts'

const system =
  'systemd,systemd-sysv,dbus,ffmpeg,init-system-helpers,debconf,curl,ca-certificates,procps,openssh-server,python3,sudo'
const names = ['dc-7', 'dc-8']
const limits = 'conf.d/all/fleet-limits.yaml'

let boxes: ReadonlyMap<string, Container> = new Map()
let fleet = ''

/** Two boxes with the package and sshd, and a repository with the example. ssh reaches them through their namespaces. */
async function boot({ folder }: Bench): Promise<void> {
  const why = whyNoContainer()
  if (why !== undefined) throw new Skipped(why)
  const image = join(buildFolder, `debian-fleet-${suite}.tar`)
  mkdirSync(buildFolder, { recursive: true })
  if (!existsSync(image)) await run('mmdebstrap', ['--variant=minbase', `--include=${system}`, suite, image])
  const deb = basename(await quickDeb(folder))
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'fleet-key')])
  boxes = new Map(
    await Promise.all(names.map(async (name) => [name, await bootOne(folder, name, image, deb)] as const)),
  )
  fleet = join(folder, 'fleet')
  cpSync(join(root, 'systemd/examples'), fleet, { recursive: true })
  const hosts = [...boxes].map(
    ([name, box]) =>
      `Host ${name} gateway.${name.replace('-', '')}.example\n  User config\n  HostName ${name}\n  ProxyCommand nsenter -t ${box.leader} -a /usr/sbin/sshd -i\n`,
  )
  const common = `Host *\n  IdentityFile ${join(folder, 'fleet-key')}\n  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n`
  writeFileSync(join(folder, 'ssh.conf'), `${hosts.join('')}${common}`)
  await run('git', ['-C', fleet, 'init', '-q'])
  await commit('As it is')
}

async function bootOne(folder: string, name: string, image: string, deb: string): Promise<Container> {
  const place = join(folder, name)
  mkdirSync(place)
  await run('tar', ['-xf', image, '-C', place, '--exclude=./dev/*'])
  writeFileSync(join(place, 'etc/machine-id'), '')
  copyFileSync(join(folder, deb), join(place, 'root', deb))
  copyFileSync(join(folder, 'fleet-key.pub'), join(place, 'root/fleet-key.pub'))
  const box = await Container.boot(place, root)
  await box.must(`dpkg -i /root/${deb} && sed -i 's/^  id: .*/  id: ${name}/' /etc/gatehouse/gatehouse.yaml`)
  const { secretHash } = JSON.parse(await box.must('gatehouse credential --username ada --role admin --json'))
  const admin = `auth: { users: [{ username: ada, role: admin, secretHash: "${secretHash}" }] }`
  await box.must(`mkdir -p /etc/gatehouse/conf.d && echo '${admin}' > /etc/gatehouse/conf.d/10-admin.yaml`)
  await box.must(
    'chgrp gatehouse /etc/gatehouse/conf.d/10-admin.yaml && chmod 0640 /etc/gatehouse/conf.d/10-admin.yaml',
  )
  await box.must('systemctl enable --now gatehouse && mkdir -p /run/sshd')
  await box.must('useradd -m -s /bin/sh config && echo "config ALL=(root) NOPASSWD: ALL" > /etc/sudoers.d/config')
  await box.must('install -d -o config -m 0700 /home/config/.ssh')
  await box.must('install -o config -m 0600 /root/fleet-key.pub /home/config/.ssh/authorized_keys')
  return box
}

const at = (name: string): Container => {
  const box = boxes.get(name)
  if (!box) throw new Skipped('there are no containers')
  return box
}

async function commit(words: string): Promise<void> {
  const author = ['-c', 'user.name=fleet', '-c', 'user.email=fleet@example.com']
  await run('git', ['-C', fleet, 'add', '-A'])
  await run('git', ['-C', fleet, ...author, 'commit', '-q', '-m', words])
}

const push = ({ folder }: Bench, ...args: string[]) =>
  run(join(fleet, 'bin/push'), args, { SSH: `ssh -F ${join(folder, 'ssh.conf')} -o BatchMode=yes` })

const play = ({ folder }: Bench, ...args: string[]) =>
  run('ansible-playbook', ['-i', join(fleet, 'ansible/inventory.ini'), join(fleet, 'ansible/playbook.yml'), ...args], {
    ANSIBLE_SSH_ARGS: `-F ${join(folder, 'ssh.conf')}`,
    ANSIBLE_HOST_KEY_CHECKING: 'False',
    ANSIBLE_NOCOLOR: '1',
    LC_ALL: 'C.UTF-8',
  })

const refused = async (work: Promise<string>): Promise<string> =>
  work.then(
    () => {
      throw new Error('it should have failed')
    },
    (error: Error) => {
      if (error instanceof Skipped) throw error
      return error.message
    },
  )

const change = async (text: string): Promise<void> => {
  writeFileSync(join(fleet, limits), text)
  await commit(text.trim())
}

/** The limit of requests that a box has in its drop-ins; empty: none. */
const limitOf = async (name: string): Promise<string> =>
  (
    await at(name).run('grep -ho "requestsPerMinute: [0-9]*" /etc/gatehouse/conf.d/fleet-*.yaml 2>/dev/null')
  ).output.trim()

/** Checks that the gateway uses the limit that is on disk. */
async function inUse(name: string, limit: string): Promise<void> {
  holds((await limitOf(name)) === `requestsPerMinute: ${limit}`, `${name} has ${await limitOf(name)}, not ${limit}`)
  const status = (await at(name).run('gatehouse status --json --config /etc/gatehouse/gatehouse.yaml')).output
  holds(status.includes('"refused":null'), `${name} does not use what is on its disk:\n${status}`)
}

async function bySsh(bench: Bench): Promise<void> {
  const dry = await push(bench, '--dry-run')
  holds(/2 of 2 boxes would take/.test(dry), dry)
  holds((await limitOf('dc-7')) === '', 'a dry run changed something')
  const done = await push(bench)
  holds(/2 of 2 boxes take/.test(done), done)
  for (const name of names) await inUse(name, '300')
  holds(
    (await at('dc-8').run('ls /etc/gatehouse/conf.d/fleet-cameras.yaml')).code !== 0,
    'dc-8 has the cameras of dc-7',
  )
}

async function stopsAtTheFirst(bench: Bench): Promise<void> {
  await change('rateLimit: { requestsPerMinuet: 5 }\n')
  const said = await refused(push(bench))
  holds(/dc-7 failed; 0 of 2 boxes are done/.test(said) && /did you mean requestsPerMinute/.test(said), said)
  for (const name of names) await inUse(name, '300')
}

/** The config is good, but the gateway does not answer: the config on disk is rolled back. */
async function putsBack(bench: Bench): Promise<void> {
  await change('rateLimit: { requestsPerMinute: 400 }\n')
  await at('dc-7').must(
    'mkdir -p /etc/systemd/system/gatehouse.service.d && printf "[Service]\\nExecReload=\\nExecReload=/bin/false\\n" > /etc/systemd/system/gatehouse.service.d/no.conf && systemctl daemon-reload',
  )
  const said = await refused(push(bench))
  holds(/drop-ins of before are put back/.test(said), said)
  await at('dc-7').must('rm /etc/systemd/system/gatehouse.service.d/no.conf && systemctl daemon-reload')
  for (const name of names) await inUse(name, '300')
}

async function byAnsible(bench: Bench): Promise<void> {
  await play(bench, '-e', 'dry_run=true')
  holds((await limitOf('dc-7')) === 'requestsPerMinute: 300', 'a dry run changed something')
  await play(bench)
  for (const name of names) await inUse(name, '400')
  await change('rateLimit: { requestsPerMinuet: 5 }\n')
  const said = await refused(play(bench))
  holds(/did you mean requestsPerMinute/.test(said) && !/TASK.*dc-8.*changed/.test(said), said)
  for (const name of names) await inUse(name, '400')
}

async function end(): Promise<void> {
  for (const box of boxes.values()) await box.stop()
}

/** The examples for many boxes, with real sshd and real Ansible. */
export const fleetTrials: readonly Trial[] = [
  { name: 'fleet: two boxes with sshd boot', play: boot },
  {
    name: 'fleet: ssh brings the drop-ins of a repository to both, and each gateway says that it took them',
    play: bySsh,
  },
  {
    name: 'fleet: a drop-in that config check refuses stops at the first box and changes nothing',
    play: stopsAtTheFirst,
  },
  { name: 'fleet: a box that does not reload gets its drop-ins of before back, and stops the rest', play: putsBack },
  { name: 'fleet: Ansible does the same', play: byAnsible },
  { name: 'fleet: the boxes stop', play: end },
]
