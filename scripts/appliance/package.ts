import { createHash } from 'node:crypto'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { distFolder, root } from '../build/inputs.ts'
import { buildBinary, thisArch } from '../build.ts'
import { debianArch, editionOf, makeDeb } from '../package/deb.ts'
import { type Bench, holds, run, type Trial } from './trial.ts'

const hashOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

/** The package of this machine's processor, packed quickly. */
export async function quickDeb(folder: string): Promise<string> {
  const arch = thisArch()
  const { path } = await buildBinary({ arch })
  return makeDeb({ arch, binary: path, to: folder, work: join(folder, 'deb'), isQuick: true })
}

async function sameBytes({ folder, say }: Bench): Promise<void> {
  const arch = thisArch()
  const built = join(distFolder, `gatehouse-linux-${arch}`)
  const hashes = []
  for (const turn of ['first', 'second']) {
    const { path } = await buildBinary({ arch, force: true })
    copyFileSync(path, join(folder, turn))
    const to = join(folder, `${turn}-deb`)
    mkdirSync(to)
    const deb = makeDeb({ arch, binary: path, to, work: join(folder, 'deb'), isQuick: true })
    hashes.push([hashOf(built), hashOf(deb)].join(' '))
  }
  holds(hashes[0] === hashes[1], `two builds differ: ${hashes.join(' and ')}`)
  say(`binary and package: ${hashes[0]}`)
}

async function lintian({ folder }: Bench): Promise<void> {
  const said = await run('lintian', ['--fail-on', 'error,warning', '--allow-root', await quickDeb(folder)])
  holds(!/^[EW]:/m.test(said), said)
}

/** A signed repository with the package of this tree, under its own key. Its folder. */
export async function makeRepository(folder: string): Promise<string> {
  const [repo, keys] = ['repository', 'gnupg'].map((name) => join(folder, name)) as [string, string]
  if (existsSync(repo)) return repo
  rmSync(keys, { recursive: true, force: true })
  mkdirSync(keys, { mode: 0o700, recursive: true })
  const gpg = { GNUPGHOME: keys }
  const person = 'appliance test <test@gatehouse.example>'
  await run('gpg', ['--batch', '--passphrase', '', '--quick-generate-key', person, 'ed25519', 'sign', 'never'], gpg)
  const listed = await run('gpg', ['--list-keys', '--with-colons'], gpg)
  const key = /^fpr:+([0-9A-F]{40}):/m.exec(listed)?.[1] ?? ''
  const deb = await quickDeb(folder)
  await run(join(root, 'scripts/apt-repository'), [repo, key, deb], gpg)
  return repo
}

/** A box's apt in its own folder, which knows the repository alone. */
async function repository({ folder, say }: Bench): Promise<void> {
  rmSync(join(folder, 'repository'), { recursive: true, force: true })
  const [repo, box] = [await makeRepository(folder), join(folder, 'box')]
  for (const below of [
    'etc/apt/apt.conf.d',
    'var/lib/apt/lists/partial',
    'var/cache/apt/archives/partial',
    'var/lib/dpkg',
  ]) {
    mkdirSync(join(box, below), { recursive: true })
  }
  writeFileSync(join(box, 'var/lib/dpkg/status'), '')
  const source = `deb [signed-by=${repo}/gatehouse.gpg] file://${repo} stable main\n`
  writeFileSync(join(box, 'etc/apt/sources.list'), source)
  const options = [`Dir=${box}`, `Dir::State::status=${box}/var/lib/dpkg/status`, 'APT::Sandbox::User=root']
  const apt = (...args: string[]) => run('apt-get', [...options.flatMap((one) => ['-o', one]), ...args])
  await apt('update', '--error-on=any')
  const { version } = editionOf(root)
  const uris = await apt('--print-uris', 'download', 'gatehouse')
  holds(uris.includes(`gatehouse_${version}_${debianArch[thisArch()]}.deb`), `apt would not install it: ${uris}`)
  say(uris.trim())

  const lists = join(repo, `dists/stable/main/binary-${debianArch[thisArch()]}`)
  const byHash = readdirSync(join(lists, 'by-hash/SHA256')).map((name) => join(lists, 'by-hash/SHA256', name))
  for (const list of [join(lists, 'Packages'), join(lists, 'Packages.gz'), ...byHash]) appendFileSync(list, '\n')
  // As a box that has not seen them yet: one that has asks for changed lists only.
  rmSync(join(box, 'var/lib/apt/lists'), { recursive: true })
  mkdirSync(join(box, 'var/lib/apt/lists/partial'), { recursive: true })
  const refused = await apt('update', '--error-on=any').then(
    () => 'accepted',
    (error: Error) => error.message,
  )
  holds(/Hash Sum mismatch|unexpected size/.test(refused), `a changed list of packages was ${refused}`)
  rmSync(repo, { recursive: true })
}

/** Trials that need no installed package. */
export const packageTrials: readonly Trial[] = [
  { name: 'two builds of one commit are the same bytes', play: sameBytes },
  { name: 'lintian finds no error and gives no warning', play: lintian },
  { name: 'apt takes the package from the signed repository, and refuses lists that were changed', play: repository },
]
