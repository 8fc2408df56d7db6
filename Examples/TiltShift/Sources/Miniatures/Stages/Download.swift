package import Baton
internal import BatonNetwork
package import Foundation

/// Gets the bytes of a picture from a server.
package struct Download: Procedure {
    /// What the server has.
    package let address: String
    /// How long one attempt may take.
    package let timeout: Duration

    package init(_ address: String, timeout: Duration) {
        self.address = address
        self.timeout = timeout
    }

    package func execute(in context: OperationContext) async throws -> Data {
        let download = HTTPData(address).sizeLimit(PictureFile.sizeLimit).deadline(timeout)
        return try await download.execute(in: context).data
    }
}
