/** Completion for bash, made from the tree of the commands. */
import type { Command, Option } from 'commander'
import { gatehouseCommand } from '../../src/cli/run.ts'

/**
 * Returns the script that bash-completion loads for `gatehouse`. It contains the words, and starts no program.
 */
export function bashCompletion(): string {
  const program = gatehouseCommand()
  const cases = casesOf(program, [])
  const values = valuesOf(program, [])
  return `# bash completion for gatehouse, made from its commands

_gatehouse() {
  local cur prev words cword path word
  _init_completion || return
  path=
  for word in "\${words[@]:1:cword-1}"; do
    case "$path $word" in
${stepsOf(program, []).join('\n')}
    esac
  done
  case "$path $prev" in
${values.join('\n')}
  esac
  case "$path" in
${cases.join('\n')}
  esac
}

complete -F _gatehouse gatehouse
`
}

/** Returns how a word leads from one command to the next: `ledger`, then `verify`. */
function stepsOf(command: Command, path: readonly string[]): string[] {
  return command.commands.flatMap((below) => {
    const next = [...path, below.name()]
    return [`      '${path.join(' ')} ${below.name()}') path='${next.join(' ')}' ;;`, ...stepsOf(below, next)]
  })
}

function casesOf(command: Command, path: readonly string[]): string[] {
  const options = optionsOf(command).flatMap(({ short, long }) => [short, long].filter((flag) => flag !== undefined))
  const names = command.commands.map((below) => below.name())
  const takesFile = command.registeredArguments.some(({ argChoices }) => argChoices === undefined)
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
  const words = [...names, ...choices, ...options].join(' ')
  const files = takesFile ? '\n      [[ $cur == -* ]] || _filedir' : ''
  return [
    `    '${path.join(' ')}')\n      mapfile -t COMPREPLY < <(compgen -W '${words}' -- "$cur")${files}\n      ;;`,
    ...command.commands.flatMap((below) => casesOf(below, [...path, below.name()])),
  ]
}

/** Completions of an option's value: its choices, or files, or none. */
function valuesOf(command: Command, path: readonly string[]): string[] {
  const own = optionsOf(command)
    .filter(({ required, optional }) => required || optional)
    .map((option) => {
      const flags = [option.short, option.long].filter((flag) => flag !== undefined)
      const patterns = flags.map((flag) => `'${path.join(' ')} ${flag}'`).join(' | ')
      const reply = option.argChoices
        ? `mapfile -t COMPREPLY < <(compgen -W '${option.argChoices.join(' ')}' -- "$cur")`
        : /<(file|folder|path)/.test(option.flags)
          ? '_filedir'
          : ':'
      return `    ${patterns})\n      ${reply}\n      return\n      ;;`
    })
  return [...own, ...command.commands.flatMap((below) => valuesOf(below, [...path, below.name()]))]
}

function optionsOf(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command)
}
