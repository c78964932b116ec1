import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import t from 'tap'
import { sbom } from '../../scripts/build/sbom.ts'
import { debianSbom } from '../../scripts/image/debian-sbom.ts'
import { productionPackages } from '../../scripts/notices/locked-packages.ts'
import { gatehouse } from '../support/process.ts'

const root = join(import.meta.dirname, '../..')
const schemaOf = (name: string) =>
  JSON.parse(readFileSync(join(root, `test/fixtures/cyclonedx/${name}.schema.json`), 'utf8'))

function cycloneDx() {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  for (const name of ['spdx', 'jsf-0.82']) {
    ajv.addSchema(schemaOf(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
  }
  return ajv.compile(schemaOf('bom-1.6'))
}

type Component = { 'bom-ref': string; name: string; version: string; purl?: string; cpe?: string; licenses?: unknown }
type Bom = { components: Component[]; dependencies: { ref: string; dependsOn: string[] }[]; metadata: unknown }

for (const arch of ['x64', 'arm64'] as const) {
  const bom = JSON.parse(sbom(arch)) as Bom

  t.test(`the SBOM for ${arch} is valid CycloneDX 1.6`, async (t) => {
    const validate = cycloneDx()
    t.ok(validate(bom), JSON.stringify(validate.errors?.slice(0, 3)))
    t.notOk(validate({ ...bom, components: [{ name: 'no type' }] }), 'the schema can refuse')
  })

  t.test(`every package that the binary for ${arch} carries is in it once, with its licence`, async (t) => {
    const other = arch === 'x64' ? /-arm64$/ : /-x64$/
    const expected = productionPackages(root)
      .filter(({ name }) => !other.test(name))
      .map(({ path }) => path)
    const refs = bom.components.map((one) => one['bom-ref'])
    t.same(
      expected.filter((path) => !refs.includes(path)),
      [],
    )
    t.same(
      refs.filter((ref) => other.test(ref)),
      [],
      'and none for the other processor',
    )
    t.equal(new Set(refs).size, refs.length)
    t.same(
      bom.components.filter(({ licenses }) => !licenses),
      [],
    )
    for (const { ref, dependsOn } of bom.dependencies) {
      t.same(
        [ref, ...dependsOn].filter((one) => one !== 'gatehouse' && !refs.includes(one)),
        [],
        ref,
      )
    }
  })

  t.test(`the works inside packages for ${arch} have the names that vulnerabilities are published under`, async (t) => {
    const cpes = bom.components.flatMap(({ cpe }) => cpe ?? [])
    const { node } = process.versions
    t.ok(cpes.includes(`cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`), `Node ${node}, which the tests run on too`)
    t.ok(cpes.some((cpe) => cpe.startsWith('cpe:2.3:a:sqlite:sqlite:3.')))
    t.ok(cpes.some((cpe) => cpe.startsWith('cpe:2.3:a:ffmpeg:ffmpeg:')))
  })
}

t.test('the same source gives the same SBOM, and gatehouse prints it', async (t) => {
  t.equal(sbom('x64'), sbom('x64'))
  if (process.arch !== 'x64' && process.arch !== 'arm64') return
  t.equal(execFileSync(gatehouse, ['version', '--sbom'], { encoding: 'utf8' }), sbom(process.arch))
})

t.test('the list of the Debian packages of an image is valid CycloneDX, and names each with its source', async (t) => {
  const said = [
    'libstdc++6\t12.2.0-14+deb12u1\tamd64\tgcc-12\t12.2.0-14+deb12u1',
    'adduser\t3.134\tall\tadduser\t3.134',
    '',
  ]
  const bom = JSON.parse(debianSbom(said.join('\n'), { version: '0.1.0-20261125', suite: 'bookworm' }))
  const validate = cycloneDx()
  t.ok(validate(bom), JSON.stringify(validate.errors?.slice(0, 3)))
  t.match(bom.metadata.component, { name: 'gatehouse-appliance', version: '0.1.0-20261125' })
  t.equal(bom.components.length, 2)
  t.match(bom.components[0], {
    purl: 'pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=amd64&distro=bookworm',
    properties: [{ name: 'debian:source', value: 'gcc-12 12.2.0-14+deb12u1' }],
  })
})
