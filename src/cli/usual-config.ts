import { existsSync } from 'node:fs'

/** Where the package puts the config. */
export const installedConfig = '/etc/gatehouse/gatehouse.yaml'

/** Returns the config file of a command that looks at a whole box: the given one, else the installed one; undefined: neither. */
export function usualConfig(given: string | undefined): string | undefined {
  return given ?? (existsSync(installedConfig) ? installedConfig : undefined)
}

export const usualConfigText = `default: ${installedConfig} where it is, else the embedded one`
