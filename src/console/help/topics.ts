/** Pages that people write, `en/TOPIC.md` and some in `de` too, in the order of the list. */
export const writtenTopics = [
  'start',
  'operate',
  'messages',
  'people',
  'sign-in',
  'backup',
  'cameras',
  'evidence',
  'head-office',
  'integrate',
  'privacy',
  'appliance',
  'floor',
] as const

/** Pages that the build makes from the program: its commands, keys, codes and alerts. */
export const madeTopics = ['commands', 'config', 'errors', 'alerts'] as const

export const helpTopics = [...writtenTopics, ...madeTopics] as const
export type HelpTopic = (typeof helpTopics)[number]
