import t from 'tap'
import { type Known, manualProblems, namesProblems } from '../../scripts/checks/manual-pages.ts'
import { gatehouseCommand } from '../../src/cli/run.ts'
import { hubConfigSchema } from '../../src/config/hub-schema.ts'
import { configSchema } from '../../src/config/schema.ts'

const known: Known = {
  anchors: new Map([
    ['floor', ['scan']],
    ['backup', ['backup', 'restore']],
  ]),
  program: gatehouseCommand(),
  configs: [configSchema, hubConfigSchema],
  routes: ['GET /api/whms/slots/{id}', 'POST /api/whms/events', 'GET /help'],
  names: new Set(['hub.unreachable']),
  places: {
    files: new Set([
      '/usr/share/doc/gatehouse/recipe.sh',
      '/usr/lib/systemd/system/gatehouse.service',
      '/usr/lib/systemd/system/gatehouse-scale@.service',
    ]),
    scripts: 'mkdir -p /usr/lib/gatehouse/versions',
    npm: new Set(['build']),
  },
  options: new Set(['--once']),
}

/** Returns the problems of a page with this text below its heading. */
const problemsOf = (...lines: readonly string[]) =>
  manualProblems({ topic: 'floor', file: 'floor.md', markdown: ['# Floor', '', ...lines].join('\n') }, known)

t.test('a page that names what exists passes', async (t) => {
  const page = [
    '## Scan a slot',
    'See [Backup](backup.md#restore), [here](#scan-a-slot), [the script](/help/recipe.sh), [Debian](https://www.debian.org/).',
    'Run `sudo gatehouse backup FILE --media`, set `backup.file.to` and `cameras[].motion`, or `auth.users[0].role: admin`.',
    'Run `/usr/share/doc/gatehouse/recipe.sh`, see `/usr/share/doc/gatehouse`, `/usr/lib/gatehouse/versions` and `/help`.',
    'Run `sudo systemctl enable --now gatehouse`, `journalctl -p warning -u gatehouse` and `npm run build`. It takes `--once`.',
    'Run `systemctl start gatehouse-scale@dock-1`. Passwords are in `/etc/gatehouse/secrets`.',
    'The alert `hub.unreachable` is no key, and neither is `gatehouse.yaml`. Ask `GET /api/whms/slots/A-01-01?at=…`.',
    '```sh',
    'sudo gatehouse import slots slots.csv \\',
    '  --warehouse 1 # --nonsense',
    'journalctl -u gatehouse -n 100 | grep --color gatehouse',
    'curl -X POST https://HOST/api/whms/events --cacert ca.crt',
    '```',
    '```yaml',
    'cameras:',
    '  - id: 1',
    '    motion: { sensitivity: 3 }',
    '```',
    '```yaml',
    'scrape_configs: []',
    '```',
  ]
  t.same(problemsOf(...page), [])
})

t.test('what a page names and what does not exist is refused with file and line', async (t) => {
  for (const [line, problem] of [
    ['[Nothing](nothing.md)', 'links to "nothing.md", which is no page of the manual'],
    ['[Backup](backup.md#nowhere)', 'links to "backup.md#nowhere", and the page has no such heading'],
    ['[Here](#nowhere)', 'links to "#nowhere", and the page has no such heading'],
    ['[Source](../../README.md)', 'links to "../../README.md", which is no page of the manual'],
    ['Run `gatehouse bakup`.', 'names gatehouse bakup, which is no command'],
    ['Run `sudo gatehouse config chek`.', 'names gatehouse config chek, which is no command'],
    ['Run `gatehouse backup FILE --medai`.', 'names gatehouse backup --medai, which is no option of that command'],
    ['Give it `--medai`.', 'names --medai, which no command has'],
    ['Set `backup.file.too`.', 'names backup.file.too, which is no key of the config'],
    ['Set `cameras[].motoin.sensitivity: 3`.', 'names cameras[].motoin.sensitivity, which is no key of the config'],
    ['Ask `/api/whms/slot/7`.', 'names /api/whms/slot/7, which is no route'],
    ['Ask /api/whms/nothing.', 'names /api/whms/nothing, which is no route'],
    ['Open `/hepl`.', 'names GET /hepl, which is no route'],
    [
      'See `/usr/share/doc/gatehouse/recipes.sh`.',
      'names /usr/share/doc/gatehouse/recipes.sh, which is in no package and no image',
    ],
    ['Run `systemctl reload gatehose`.', 'names the unit gatehose, which is in no package and no image'],
    [
      'Run `journalctl -n 5 -u gatehouse-slots`.',
      'names the unit gatehouse-slots, which is in no package and no image',
    ],
    ['Run `npm run biuld`.', 'names npm run biuld, which package.json does not have'],
    ['Run `scripts/dmeo`.', 'names scripts/dmeo, which does not exist'],
    ['Run `scripts/gatehouse bakup`.', 'names gatehouse bakup, which is no command'],
    ['Send `DELETE /api/whms/slots/7`.', 'names DELETE /api/whms/slots/7, which is no route'],
  ] as const)
    t.same(problemsOf(line), [`floor.md:3: ${problem}`], line)
})

t.test('a block of code is read too: commands over several lines, and the keys of YAML', async (t) => {
  t.same(problemsOf('1. Run it:', '', '   ```sh', '   sudo gatehouse backup \\', '     FILE --medai', '   ```'), [
    'floor.md:6: names gatehouse backup --medai, which is no option of that command',
  ])
  t.same(problemsOf('```sh', 'ls; gatehouse ledgr verify', '```'), [
    'floor.md:4: names gatehouse ledgr, which is no command',
  ])
  t.same(problemsOf('```yaml', 'backup:', '  file:', '    too: /mnt', '```'), [
    'floor.md:6: has the key backup.file.too, which is not in the config',
  ])
  t.same(problemsOf('```yaml', 'hub: { regions: { north: [dc-7] } }', '```'), [], 'a head office')
  t.match(problemsOf('```yaml', 'cameras: [', '```'), [/^floor\.md:4: the YAML cannot be read/])
})

t.test('README.md is read too, but for its links: they lead to files', async (t) => {
  const markdown =
    'See [the page](src/README.md).\n\n```sh\nscripts/gatehouse serve --confg g.yaml\ncp /usr/share/doc/nothing.md .\n```\n'
  t.same(namesProblems({ file: 'README.md', markdown }, known), [
    'README.md:5: names /usr/share/doc/nothing.md, which is in no package and no image',
    'README.md:4: names gatehouse serve --confg, which is no option of that command',
  ])
})

t.test('a page that is over its length, or has one heading twice, is refused', async (t) => {
  const most = 'word '.repeat(799)
  t.same(problemsOf(most, '| - |', '```sh', 'ls -l', '```'), [], 'with its heading 800 words; code and bars are none')
  t.same(problemsOf(most, 'word'), ['floor.md:1: it has 801 words; 800 are the most'])
  t.same(problemsOf('## Scan', 'Once.', '## Scan', 'Again.'), ['floor.md:1: it has the heading "#scan" twice'])
})
