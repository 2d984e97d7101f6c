"""Sentences of which each real model must know the nearer one."""

from groundkit_core.embedding import Vectors

__all__ = ["SENTENCES", "paraphrases_are_nearer"]

TRIPLES = [
    ("The cat is sleeping on the sofa.", "A kitten naps on the couch.", "Interest rates rose."),
    ("How do I reset my password?", "I forgot my login credentials.", "The soup needs salt."),
    ("The pump stops at low pressure.", "Pressure loss halts the pump.", "She sang an old song."),
    ("Doctors treat the infection.", "Physicians cure the disease.", "The train left at noon."),
    ("The company fired its director.", "The boss lost his job.", "Glaciers carve deep valleys."),
]
SENTENCES = [sentence for triple in TRIPLES for sentence in triple]


def paraphrases_are_nearer(vectors: Vectors) -> list[bool]:
    """For each triple, whether the second sentence is nearer to the first than the third is."""
    anchors, near, far = vectors[0::3], vectors[1::3], vectors[2::3]
    nearer: list[bool] = ((anchors * near).sum(axis=1) > (anchors * far).sum(axis=1)).tolist()
    return nearer
