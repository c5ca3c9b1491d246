//! The macro that declares the columns of a [`super::Fabric`]: their names and types, for the engine and for the bindings.

macro_rules! columns {
    (
        scalars { $($(#[$scalar_doc:meta])* $scalar:ident : $scalar_type:ty),* $(,)? }
        columns { $($(#[$doc:meta])* $name:ident : $type:ty),* $(,)? }
    ) => {
        /// A network and its traffic as flat arrays.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Fabric {
            $($(#[$scalar_doc])* pub $scalar: $scalar_type,)*
            $($(#[$doc])* pub $name: Vec<$type>,)*
        }

        /// Names and types of the scalars, in order.
        pub const SCALARS: &[(&str, &str)] = &[$((stringify!($scalar), stringify!($scalar_type)),)*];

        /// Names and element types of the array columns, in order.
        pub const COLUMNS: &[(&str, &str)] = &[$((stringify!($name), stringify!($type)),)*];

        /// Calls `$visit!(name: type)` for every scalar; used by the bindings.
        #[macro_export]
        macro_rules! for_each_scalar {
            ($visit:ident) => { $($visit!($scalar: $scalar_type);)* };
        }

        /// Calls `$visit!(name: type)` for every array column; used by the bindings.
        #[macro_export]
        macro_rules! for_each_column {
            ($visit:ident) => { $($visit!($name: $type);)* };
        }
    };
}
