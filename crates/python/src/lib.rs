//! The Python bindings of the engine: arrays in, columns out, errors as exceptions.
mod locate;
mod routes;
mod simulation;

use pyo3::prelude::*;

#[pymodule]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    locate::register(m)?;
    routes::register(m)?;
    simulation::register(m)?;
    Ok(())
}
