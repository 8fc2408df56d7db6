// expect: cannot assign to property: 'dependencies' is a get-only property
// The list of dependencies is read-only: `addDependency` and `removeDependency` change it.
import Baton

func connect(_ operation: AnyOperation, to other: AnyOperation) {
    operation.dependencies = [other]
}
