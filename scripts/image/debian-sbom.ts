import { serialOf } from '../build/sbom.ts'
import { run } from './run.ts'

// biome-ignore lint/suspicious/noTemplateCurlyInString: they are dpkg-query's own.
const format = '${Package}\\t${Version}\\t${Architecture}\\t${source:Package}\\t${source:Version}\\n'

/** Output of dpkg-query for the packages of a root, one a line. */
export const packagesIn = (tree: string): Promise<string> => run('chroot', [tree, 'dpkg-query', '-W', '-f', format])

/**
 * Returns the list of the Debian packages of an image (SBOM) as CycloneDX 1.6 in JSON. The parts of gatehouse itself are in the
 * SBOM of its package.
 */
export function debianSbom(said: string, image: { readonly version: string; readonly suite: string }): string {
  const lines = said.trim().split('\n')
  const components = lines.map((line) => {
    const [name = '', version = '', arch = '', source = '', sourceVersion = ''] = line.split('\t')
    const of = `arch=${arch}&distro=${image.suite}`
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?${of}`
    const properties = [{ name: 'debian:source', value: `${source} ${sourceVersion}` }]
    return { type: 'library', 'bom-ref': purl, name, version, purl, properties }
  })
  const component = {
    type: 'operating-system',
    'bom-ref': 'image',
    name: 'gatehouse-appliance',
    version: image.version,
  }
  const content = { metadata: { component }, components }
  const head = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: serialOf(JSON.stringify(content)),
    version: 1,
  }
  return `${JSON.stringify({ ...head, ...content }, null, 1)}\n`
}
