import { type DoctorFinding, findingsOn } from './finding.ts'

/** Problems of the config, each with its place: `gatehouse.yaml:3:5: …`. */
export type ConfigFacts = {
  readonly file: string | null
  readonly problems: readonly string[]
  /** Settings that work, but are probably not meant so, such as a secret that everybody may read. */
  readonly warnings: readonly string[]
}

export function configFindings({ file, problems, warnings }: ConfigFacts): DoctorFinding[] {
  const of = findingsOn({ topic: 'config', ...(file !== null && { subject: file }) })
  const found = [
    ...problems.map((problem) => of.bad(`${problem}.`, 'Correct it, check with gatehouse config check, and reload.')),
    ...warnings.map((warning) =>
      of.change(`${warning}.`, 'Correct it, check with gatehouse config check, and reload.'),
    ),
  ]
  return found.length > 0
    ? found
    : [of.good(file === null ? 'The embedded defaults are in use.' : 'It has no problems.')]
}

/** A file that holds secrets or that the gateway has to read. */
export type FileFacts = {
  readonly path: string
  /** Whether the gateway's user, the owner of the data folder, may read it. */
  readonly isReadable: boolean
  /** Whether people other than its owner and its group may read it. */
  readonly isOpen: boolean
  readonly isSecret: boolean
}

/** Returns the problems of files, or one finding that there are none. */
export function fileFindings(files: readonly FileFacts[], user: string): DoctorFinding[] {
  const of = findingsOn({ topic: 'files' })
  const found = files.flatMap(({ path, isReadable, isOpen, isSecret }) => [
    ...(isReadable
      ? []
      : [of.bad(`The gateway runs as ${user}, who cannot read ${path}.`, `chgrp ${user} ${path}; chmod g+r ${path}`)]),
    ...(isSecret && isOpen
      ? [of.change(`${path} holds a secret, and every user of this box may read it.`, `chmod o-rwx ${path}`)]
      : []),
  ])
  if (found.length > 0 || files.length === 0) return found
  return [
    of.good(
      `${files.length} files of config and keys are readable for the gateway, and no secret is readable for all.`,
    ),
  ]
}

/** Whether a daemon works on the data folder. `problem`: the reason why it cannot be examined. */
export type DaemonFacts = { readonly isRunning: boolean; readonly problem: string | null }

export function daemonFinding({ isRunning, problem }: DaemonFacts): DoctorFinding {
  const of = findingsOn({ topic: 'gateway' })
  if (problem !== null) return of.bad(`${problem.replace(/\.$/, '')}.`, 'journalctl --unit gatehouse says more.')
  if (isRunning) return of.good('The gateway runs and answers.')
  return of.bad(
    'The gateway does not run.',
    'Start it: systemctl start gatehouse. journalctl --unit gatehouse says why it ended.',
  )
}
