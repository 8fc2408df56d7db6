package import Baton
package import Foundation

/// Decrypts the bytes of an encrypted picture.
package struct Decryption: InputProcedure {
    package init() {}

    package func execute(_ input: (Data, SecretKey), in context: OperationContext) async throws -> Data {
        try SecretFile.opened(input.0, with: input.1)
    }
}
