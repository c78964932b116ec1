import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { joinHub } from '../../src/cli/hub/join.ts'
import { loadHubConfig } from '../../src/config/index.ts'
import { composeHub } from '../../src/hub/compose.ts'
import { silentLogger, systemRandom } from '../../src/platform/index.ts'
import { start, withConfig } from '../app/daemon-folder.ts'
import { testHub } from '../support/hub.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { gatehouse, runToEnd } from '../support/process.ts'
import { eventually } from '../support/waiting.ts'

fileNeeds(t, 'postgresql')
const postgres = await startPostgres(t)
const takeOffer = resolve(import.meta.dirname, '../../systemd/examples/bin/take-offer')

t.test(
  'a version that the head office offers is installed by the timer, when the config of the box takes it',
  async (t) => {
    const hub = await testHub(t, postgres, { listens: true })
    const always = 'window: ["Mo-Su 00:00-24:00"]'
    const { cwd, file } = withConfig(t, `updates: { offers: take, ${always} }\n`)
    const own = ['--config', file]
    const hubFile = join(hub.folder, 'hub.yaml')
    const daemon = await start(t, cwd, file)
    await joinHub({ url: hub.url, code: await hub.code('daemon-test'), configFile: file })
    const offered = await runToEnd(gatehouse, ['hub', 'offer', '99.0.1', '--config', hubFile])
    t.match(offered, { code: 0, stdout: /version: {2}99\.0\.1\nstage: {4}1 of 3/ })
    const reload = () => daemon.child.kill('SIGHUP')
    reload()
    const ask = (...more: string[]) => runToEnd(gatehouse, ['upgrade', 'offered', ...own, ...more], { cwd })
    const offer = await eventually(
      () => ask(),
      ({ code }) => code === 0,
    )
    t.same(offer, { code: 0, stdout: '99.0.1\n', stderr: '' })
    t.match(JSON.parse((await ask('--json')).stdout), { version: '99.0.1', isTakenNow: true, why: /Mo-Su 00:00-24:00/ })

    const asked = join(cwd, 'apt')
    const bin = join(cwd, 'bin')
    mkdirSync(bin)
    const script = (name: string, text: string) => {
      writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`)
      chmodSync(join(bin, name), 0o755)
    }
    script('gatehouse', `exec "${gatehouse}" "$@" --config "${file}"`)
    script('apt-get', `echo "$DEBIAN_FRONTEND $@" >> "${asked}"`)
    const take = () => runToEnd(takeOffer, [], { cwd, env: { ...process.env, PATH: `${bin}:${process.env['PATH']}` } })
    t.match(await take(), { code: 0 })
    const keepsConfig = '-o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold'
    const said = `noninteractive update -q\nnoninteractive install -y -q --only-upgrade ${keepsConfig} gatehouse=99.0.1\n`
    t.equal(readFileSync(asked, 'utf8'), said)

    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace('offers: take', 'offers: show'))
    reload()
    await eventually(
      () => ask('--json'),
      ({ stdout }) => /updates\.offers is show/.test(stdout),
    )
    t.match(await ask(), { code: 1, stdout: '', stderr: /updates\.offers is show: a person installs it/ })
    t.match(await take(), { code: 0 })
    t.equal(readFileSync(asked, 'utf8').split('\n').length, 3, 'nothing more is installed')
  },
)

t.test('a credential that the command makes signs in at the head office', async (t) => {
  const hub = await testHub(t, postgres)
  const file = join(hub.folder, 'hub.yaml')
  const make = (...more: string[]) => runToEnd(gatehouse, ['hub', 'credential', ...more, '--config', file])
  const { code, stdout } = await make('--username', 'dora', '--role', 'admin')
  t.equal(code, 0)
  t.match(stdout, /X-Storage-Instance: https:\/\/hub\.example/)
  const secret = /secret \(shown once\): (\S+)/.exec(stdout)?.[1] ?? ''
  const users = parse(/^ {2}- .*$/m.exec(stdout)?.[0] ?? '')
  writeFileSync(file, stringify({ ...parse(readFileSync(file, 'utf8')), auth: { users } }))
  const again = await composeHub(loadHubConfig(file).config, {
    ...{ clock: hub.clock, random: systemRandom, log: silentLogger() },
  })
  t.teardown(() => again.close())
  const ask = async (authorization: string) => {
    const named = { 'X-Storage-Instance': 'https://hub.example', 'X-Storage-Username': 'dora' }
    return (await again.api.request('/api/metrics', { headers: { Authorization: authorization, ...named } })).status
  }
  t.equal(await ask(`Bearer ${secret}`), 200, 'an admin reads the metrics')
  t.equal(await ask(`Basic ${Buffer.from(`dora:${secret}`).toString('base64')}`), 200)
  t.equal(await ask(`Bearer ${secret}x`), 401)
  t.match(await make('--username', 'a:b', '--role', 'viewer'), { code: 2, stderr: /no user name/ })
  t.match(await make('--username', 'dora', '--role', 'king'), { code: 2 })
})

t.test(
  'a database that is older or newer than the program is not served, and the command says what to do',
  async (t) => {
    const hub = await testHub(t, postgres)
    const serve = () => runToEnd(gatehouse, ['hub', 'serve', '--config', join(hub.folder, 'hub.yaml')])
    await hub.rows(`INSERT INTO hub_migration VALUES ('0999-of-tomorrow', '')`)
    t.match(await serve(), { code: 78, stdout: '', stderr: /newer gatehouse.*0999-of-tomorrow/ })
    await hub.rows(`DELETE FROM hub_migration WHERE name > '0003'`)
    t.match(await serve(), {
      code: 78,
      stdout: '',
      stderr: /run "gatehouse hub migrate" on the database first: it lacks 0003/,
    })
  },
)

t.test('whether the database is ready for this version is asked without a change', async (t) => {
  const hub = await testHub(t, postgres)
  const file = join(hub.folder, 'hub.yaml')
  const check = () => runToEnd(gatehouse, ['hub', 'migrate', '--check', '--config', file])
  t.match(await check(), { code: 0, stdout: /ready for this version/ })
  await hub.rows('DELETE FROM hub_migration WHERE name = (SELECT max(name) FROM hub_migration)', [])
  for (const _ of [1, 2]) t.match(await check(), { code: 78, stdout: '', stderr: /run "gatehouse hub migrate".*first/ })
})
