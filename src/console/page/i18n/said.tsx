import { partsOf } from './language.ts'

/** Shows words; what the gateway wrote among them is marked as English. */
export const Said = ({ words }: { words: string }) => (
  <>{partsOf(words).map((part, index) => (index % 2 === 1 ? <span lang="en">{part}</span> : part))}</>
)
