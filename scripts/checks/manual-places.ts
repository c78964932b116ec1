import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/inputs.ts'
import { editionOf, filesOf } from '../package/deb.ts'

/** Names that a page may use for things on a box. */
export type Places = {
  /** Files of the package and of the appliance image, by their absolute path. */
  readonly files: ReadonlySet<string>
  /** Text of the scripts that the package runs: they make further folders. */
  readonly scripts: string
  /** Scripts of package.json. */
  readonly npm: ReadonlySet<string>
}

export function knownPlaces(): Places {
  const image = globSync('firmware/root/**/*', { cwd: root }).map((path) => path.replace(/^firmware\/root/, ''))
  const packed = Object.keys(filesOf(editionOf(root), 'x64')).map((path) => `/${path}`)
  const scripts = globSync(['scripts/package/debian/*', 'scripts/package/way-back'], { cwd: root })
  const textOf = (path: string) => readFileSync(join(root, path), 'utf8')
  return {
    files: new Set([...packed, ...image, '/usr/bin/gatehouse']),
    scripts: scripts.map(textOf).join('\n'),
    npm: new Set(Object.keys((JSON.parse(textOf('package.json')) as { scripts: object }).scripts)),
  }
}

/** Lists what is wrong with the files, units and scripts that a line names. */
export function placeProblems(text: string, places: Places): string[] {
  return [
    ...pathsIn(text).flatMap((path) => fileProblem(path, places)),
    ...unitsIn(text).flatMap((unit) => unitProblem(unit, places)),
    ...scriptProblems(text, places),
  ]
}

/** A path is preceded by nothing, or by what cannot be a part of a path or of an address. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/(?<![\w./:…}"-])\/usr\/[\w./@-]*[\w@]/g)].map(([path]) => path)

/** Only what a package installs is below /usr. */
function fileProblem(path: string, { files, scripts }: Places): string[] {
  const isThere =
    files.has(path) ||
    files.has(`${path}.gz`) ||
    [...files].some((file) => file.startsWith(`${path}/`)) ||
    scripts.includes(path)
  return isThere ? [] : [`names ${path}, which is in no package and no image`]
}

const unitsIn = (text: string): string[] =>
  [
    ...[...text.matchAll(/systemctl (?:enable|disable|start|stop|restart|reload|edit|status)(?: --now)? ([\w@.-]+)/g)],
    ...[...text.matchAll(/journalctl (?:\S+ )*?-u ([\w@.-]+)/g)],
  ].map(([, unit = '']) => unit)

function unitProblem(unit: string, { files }: Places): string[] {
  const file = unit.replace(/@.*$/, '@').replace(/\.service$/, '')
  const names = [`${file}.service`, unit]
  return names.some((name) => files.has(`/usr/lib/systemd/system/${name}`))
    ? []
    : [`names the unit ${unit}, which is in no package and no image`]
}

function scriptProblems(text: string, { npm }: Places): string[] {
  const runs = [...text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name)
  const programs = [...text.matchAll(/(?:^|[\s(])(scripts\/[\w-]+)/g)].map(([, path = '']) => path)
  return [
    ...runs.filter((name) => !npm.has(name)).map((name) => `names npm run ${name}, which package.json does not have`),
    ...programs.filter((path) => !existsSync(join(root, path))).map((path) => `names ${path}, which does not exist`),
  ]
}
