/** Plays blocks of commands of the manual on a box, as a person types them. */
import type { Test } from 'tap'
import { blocksOf, type ManualBox, type Script } from './manual-box.ts'
import type { Finished } from './process.ts'

export type Play = {
  /** Which of the blocks under the heading; default: the first. */
  readonly nth?: number
  /** Values that a person puts in place of the examples. */
  readonly edits?: Readonly<Record<string, string>>
  readonly input?: string
  readonly env?: Record<string, string>
  readonly code?: number
  /** A text of the answer. */
  readonly says?: RegExp
}

export type ManualPlayer = {
  /** Returns a block of a page as a person types it, and notes it as played. */
  typed(topic: string, heading: string, play?: Play): string
  play(t: Test, topic: string, heading: string, play?: Play): Promise<Finished>
  hasPlayed(topic: string, block: Pick<Script, 'line'>): boolean
}

export const fileOf = (topic: string): string => (topic === 'README.md' ? topic : `src/console/help/en/${topic}.md`)
export const isShell = ({ language }: Script): boolean => language === 'sh'

/** Lines for root, apt or systemd. Their programs, options and units are checked by scripts/checks/manual-pages.ts. */
export const isAdministered = (line: string) =>
  /^(sudo )?(apt|dpkg|dd|journalctl|sudoedit|systemctl edit|env GATEHOUSE_ACCEPT=\S+ dpkg|sh -c 'runuser|runuser|\/usr\/lib\/gatehouse-appliance\/)/.test(
    line,
  )

/** Makes a player. Lines that `isLeft` names are not run. */
export function manualPlayer(box: () => ManualBox, isLeft: (line: string) => boolean): ManualPlayer {
  const played = new Set<string>()
  const typed: ManualPlayer['typed'] = (topic, heading, { nth = 0, edits = {} } = {}) => {
    const block = blocksOf(fileOf(topic)).filter((one) => one.heading === heading && isShell(one))[nth]
    if (!block) throw new Error(`${topic} has no block ${nth} under "${heading}"`)
    played.add(`${topic}:${block.line}`)
    const whole = block.text.replaceAll(/ *\\\n */g, ' ')
    const lines = whole.split('\n').filter((line) => !isLeft(line))
    return Object.entries(edits).reduce((text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`${topic} says no "${from}" under "${heading}"`)
      return text.replaceAll(from, to)
    }, lines.join('\n'))
  }
  return {
    typed,
    play: async (t, topic, heading, options = {}) => {
      const script = typed(topic, heading, options)
      const { input = '', env = {}, code = 0, says = /(?:)/ } = options
      const done = await box().run(script, { input, env })
      t.equal(done.code, code, `${topic}: ${script}\n${done.stdout}${done.stderr}`)
      t.match(`${done.stdout}${done.stderr}`, says)
      return done
    },
    hasPlayed: (topic, { line }) => played.has(`${topic}:${line}`),
  }
}

/** Returns the block of YAML under a heading. */
export function yamlOf(topic: string, heading: string, nth = 0): string {
  const found = blocksOf(fileOf(topic)).filter((one) => one.heading === heading && one.language === 'yaml')[nth]
  if (!found) throw new Error(`${topic} has no YAML under "${heading}"`)
  return found.text
}

/** Returns a list of a page. */
export const csvOf = (topic: string, nth = 0): string =>
  blocksOf(fileOf(topic)).filter(({ language }) => language === 'csv')[nth]?.text ?? ''

/** Sets up the box and starts its gateway, as the first page says. */
export async function setUpBox(t: Test, { play }: ManualPlayer): Promise<void> {
  const setup = ' --yes --site-id dc-7 --url https://localhost:8443 --port 8443 --local-port 8480'
  await play(t, 'start', 'Run the setup', { edits: { 'gatehouse setup': `gatehouse setup${setup}` } })
  await play(t, 'start', 'Run the setup', { nth: 1, says: /well, up for/ })
}
