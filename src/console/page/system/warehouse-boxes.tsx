import type { Warehouse } from '../data/shapes.ts'

type Props = { readonly warehouses: readonly Warehouse[]; readonly legend: string; readonly help: string }

/** The only warehouses that a device sees, as boxes named `warehouse` in a form; nothing where there is no choice. */
export const WarehouseBoxes = ({ warehouses, legend, help }: Props) =>
  warehouses.length > 1 ? (
    <fieldset class="box-choice">
      <legend>{legend}</legend>
      <p class="muted">{help}</p>
      {warehouses.map(({ id, name }) => (
        <label key={id}>
          <input type="checkbox" name="warehouse" value={String(id)} />
          {name}
        </label>
      ))}
    </fieldset>
  ) : null
