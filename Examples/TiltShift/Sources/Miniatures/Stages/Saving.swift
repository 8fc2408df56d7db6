package import Baton
package import Foundation

/// Writes a picture to a file, atomically.
package struct Saving: InputProcedure {
    package let file: URL
    package let recipe: Recipe
    /// The text of the Software field, which records how the miniature was made.
    package let signature: String

    package init(to file: URL, _ recipe: Recipe, signature: String) {
        (self.file, self.recipe, self.signature) = (file, recipe, signature)
    }

    package func execute(_ picture: Picture, in context: OperationContext) async throws -> SavedPicture {
        let bytes = try picture.encoded(as: recipe.format, quality: recipe.quality, software: signature)
        try Task.checkCancellation()
        try PictureFile.write(bytes, to: file)
        return SavedPicture(file: file, width: picture.width, height: picture.height, byteCount: bytes.count)
    }
}

/// A written miniature.
package struct SavedPicture: Sendable, Hashable {
    package let file: URL
    package let width: Int
    package let height: Int
    package let byteCount: Int
}
