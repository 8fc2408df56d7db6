package import Baton
package import Foundation

/// Reads the bytes of a picture from a file.
package struct FileReading: Procedure {
    package let file: URL

    package init(_ file: URL) { self.file = file }

    package func execute(in context: OperationContext) async throws -> Data {
        try PictureFile.read(file)
    }
}
